import { Client, DatabaseError, escapeIdentifier } from 'pg';

export const SUPERUSER = 'resource_api';

const CONNECT_TIMEOUT_MS = 2_000;

const INVALID_PASSWORD = '28P01';
const INVALID_CATALOG_NAME = '3D000';
const CANNOT_CONNECT_NOW = '57P03';

/** Creates the database unless it exists. */
export async function ensureDatabase(port: number, password: string, database: string): Promise<void> {
  try {
    await query(port, password, database, 'SELECT 1');
  } catch (error) {
    if (!(error instanceof DatabaseError) || error.code !== INVALID_CATALOG_NAME) throw error;
    await query(port, password, 'postgres', `CREATE DATABASE ${escapeIdentifier(database)}`);
  }
}

/**
 * The state of a server: it accepts connections (or says that it is full), starts or stops, refuses the password, or
 * doesn't answer.
 */
export type Answer = 'working' | 'busy' | 'refusal' | 'silence';

/** Tries to connect and to run a statement. */
export async function probe(port: number, password: string): Promise<Answer> {
  try {
    await query(port, password, 'postgres', 'SELECT 1');
    return 'working';
  } catch (error) {
    if (!(error instanceof DatabaseError)) return 'silence';
    if (error.code === INVALID_PASSWORD) return 'refusal';
    return error.code === CANNOT_CONNECT_NOW ? 'busy' : 'working';
  }
}

async function query(port: number, password: string, database: string, text: string): Promise<void> {
  const client = new Client({
    host: '127.0.0.1',
    port,
    user: SUPERUSER,
    password,
    database,
    ssl: false,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  client.on('error', () => undefined); // The failing call reports it. Without a listener it would end the process.
  try {
    await client.connect();
    await client.query(text);
  } finally {
    await client.end();
  }
}
