#!/bin/sh
# The standby of compose.cluster.yaml: copies the primary at its first start, and follows it.
set -eu
export PGDATA="${PGDATA:-/var/lib/postgresql/18/docker}"
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  mkdir -p "$PGDATA"
  chmod 700 "$PGDATA"
  PGPASSWORD="$POSTGRES_PASSWORD" pg_basebackup -h postgres-1 -U replicator -D "$PGDATA" -X stream -R \
    -d "application_name=standby"
fi
# It has no standby of its own that a commit could wait for after its promotion.
exec postgres -c hba_file=/etc/postgresql/pg_hba.conf -c synchronous_standby_names=
