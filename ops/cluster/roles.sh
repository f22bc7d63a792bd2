#!/bin/sh
# Runs once, when the primary of compose.cluster.yaml is made: the roles of the standby and of HAProxy's check. From the next start
# on a commit waits until the standby has it.
set -eu
psql -v ON_ERROR_STOP=1 -U "$POSTGRES_USER" -d postgres <<SQL
CREATE ROLE replicator REPLICATION LOGIN PASSWORD '$POSTGRES_PASSWORD';
CREATE ROLE haproxy_check LOGIN CONNECTION LIMIT 10;
ALTER SYSTEM SET synchronous_standby_names = 'standby';
SQL
