import { Client } from 'pg';

/** The URL of another database on the same server. */
export function withDatabase(url: string, name: string): string {
  const other = new URL(url);
  other.pathname = `/${name}`;
  return other.href;
}

/** Runs one statement on a connection of its own, and resolves to its rows. */
export async function query(url: string, text: string, values?: unknown[]) {
  const client = new Client({ connectionString: url });
  // The failing call reports it. Without a listener it would also end the process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query(text, values)).rows;
  } finally {
    await client.end();
  }
}

/** @param template the database to copy. Default: an empty one */
export async function createDatabase(server: string, name: string, template = 'template1'): Promise<string> {
  await query(server, `CREATE DATABASE ${name} TEMPLATE ${template}`);
  return withDatabase(server, name);
}

export async function dropDatabase(server: string, name: string): Promise<void> {
  await query(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
}

export async function dropDatabases(server: string, prefix: string): Promise<void> {
  const rows = await query(server, 'SELECT datname FROM pg_database WHERE starts_with(datname, $1)', [prefix]);
  for (const { datname } of rows) await dropDatabase(server, datname as string);
}
