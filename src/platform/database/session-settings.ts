import { Logger } from '@nestjs/common';
import { type ClientBase, DatabaseError, type QueryConfig } from 'pg';
import { seconds } from '../units';

/** How long PostgreSQL may take to set a connection up, in milliseconds. */
const PATIENCE = seconds(10);

/**
 * What PostgreSQL is told of each connection. Its own values are made for reports: for a statement that looks dear, which at ten
 * million rows each search does, it compiles the conditions and starts two more processes. Both take longer than most searches.
 */
const VALUES = `(VALUES ('jit', 'off'), ('max_parallel_workers_per_gather', '0')) AS usual (name, value)`;
/** Where a value comes from that somebody has chosen for this service: its role, all roles, its database or its URL. */
const CHOSEN = `('database', 'user', 'global', 'database user', 'client')`;
const SET_UP = `
  SELECT pg_catalog.set_config(name, value, false) FROM ${VALUES} INNER JOIN pg_catalog.pg_settings USING (name)
   WHERE source NOT IN ${CHOSEN}`;

const logger = new Logger('Database');
let isTold = false;

/**
 * Sets a new connection up. A server that refuses the settings to the role is used as it is.
 * @throws {Error} a connection that is lost, or PostgreSQL doesn't answer
 */
export async function setUpSession(client: ClientBase): Promise<void> {
  try {
    await client.query({ text: SET_UP, query_timeout: PATIENCE } as QueryConfig);
  } catch (error) {
    // After a FATAL the connection is lost.
    if (!(error instanceof DatabaseError) || error.severity !== 'ERROR') throw error;
    if (!isTold) logger.warn({ err: error }, 'jit and max_parallel_workers_per_gather keep the values of PostgreSQL');
    isTold = true;
  }
}
