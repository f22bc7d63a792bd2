import { finished } from 'node:stream/promises';
import type { ClientBase } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';

type Value = string | number | Date | null;
/** Keyed by column. */
export type Row = Record<string, Value>;

const ESCAPES: Record<string, string> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Writes rows with the same columns by COPY, the fastest way into a table. */
export async function copyRows(client: ClientBase, table: string, rows: Row[]): Promise<void> {
  const columns = Object.keys(rows[0]);
  const copy = client.query(copyFrom(`COPY ${table} (${columns.join(', ')}) FROM STDIN`));
  copy.end(rows.map(lineOf).join(''));
  await finished(copy);
}

/** A row in COPY's text format. */
function lineOf(row: Row): string {
  return `${Object.values(row).map(fieldOf).join('\t')}\n`;
}

function fieldOf(value: Value): string {
  if (value === null) return '\\N';
  if (value instanceof Date) return value.toISOString();
  return String(value).replace(/[\\\n\r\t]/g, (character) => ESCAPES[character]);
}
