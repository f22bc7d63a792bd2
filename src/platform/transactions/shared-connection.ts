import type { QueryResult } from 'pg';
import { Refusal } from './transaction-refusals';

/** An object that looks like a connection, for statements in a transaction that others share. */
export function connectionOf(run: (text: string, values?: unknown[]) => Promise<QueryResult>): object {
  // Not async: nobody awaits the promise of a stream or a cursor, and an unhandled rejection would end the process.
  const query = (text: unknown, values?: unknown, callback?: unknown) => {
    if (typeof text !== 'string' || typeof values === 'function' || callback) throw Refusal.noText();
    return run(text, values as unknown[] | undefined);
  };
  return new Proxy({ query }, { get: (part, name) => memberOf(part, name) });
}

/** `await` reads `then`, and printing reads symbols: neither is an error. */
function memberOf(part: object, name: string | symbol): unknown {
  if (typeof name === 'string' && name !== 'then' && !(name in part)) throw Refusal.noConnection(`${name}()`);
  return Reflect.get(part, name);
}
