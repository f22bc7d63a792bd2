import { Caller, type UntypedAnswer, type UntypedInit } from './call.js';
import { type ChangesOptions, UntypedChanges } from './changes.js';
import type { Client, ClientOptions } from './client.js';
import { UntypedCollection } from './collection.js';
import { type paths as Paths1, routes as routes1 } from './generated/v1.js';
import { type paths as Paths2, routes as routes2 } from './generated/v2.js';
import { itemsOf } from './pages.js';
import { RETRY } from './repetition.js';
import { Session } from './session.js';
import { memoryStore } from './token-store.js';

/** A client of version 1, whose lists are paged by numbers. */
export type Client1 = Client<Paths1, (typeof routes1)['collections']>;
/** A client of version 2, whose lists are paged by cursors. */
export type Client2 = Client<Paths2, (typeof routes2)['collections']>;

interface Routes {
  collections: Record<string, { name: string; item: string | null }>;
  keyed: readonly string[];
  waits: boolean;
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
const TIMEOUT = 35_000;

/** A client of version 2, or of version 1 with `{ version: 1 }`. It sends nothing before its first call. */
export function createClient(options: ClientOptions & { version?: 2 }): Client2;
export function createClient(options: ClientOptions & { version: 1 }): Client1;
export function createClient({ version = 2, ...options }: ClientOptions & { version?: 1 | 2 }): Client1 | Client2 {
  const routes: Routes = version === 1 ? routes1 : routes2;
  return clientOf(`${options.url.replace(/\/+$/, '')}/api/v${version}`, routes, options) as unknown as Client2;
}

function clientOf(base: string, { collections, keyed, waits }: Routes, options: ClientOptions): object {
  const timeout = options.timeout ?? TIMEOUT;
  const patchByPost = options.patchByPost ?? isOtherOrigin(base);
  const caller = new Caller({
    base,
    keyed,
    // Called without an object: browsers refuse a `fetch` of anything but the window.
    fetch: options.fetch ?? ((...request) => fetch(...request)),
    retry: { ...RETRY, ...options.retry },
    timeout,
    headers: options.headers ?? {},
    patchByPost,
  });
  const session = new Session({
    store: options.store ?? memoryStore(),
    send: (...request) => caller.credentials(...request),
    onSignedOut: options.onSignedOut,
  });
  const call = (method: string, path: string, init?: UntypedInit) => caller.call(method, path, init, session);
  const collection = (path: string) => new UntypedCollection(call, path, collections[path]?.item ?? `${path}/{id}`);
  const changes = (wish: ChangesOptions = {}) => new UntypedChanges(call, wish, waits, timeout);
  const named = Object.entries(collections).map(([path, { name }]) => [name, collection(path)] as const);
  const methods = METHODS.map(
    (method) => [method, (path: string, init?: UntypedInit) => call(method, path, init)] as const,
  );
  const calls = Object.fromEntries<unknown>([...named, ...methods]);
  return { ...calls, all: allBy(call), changes, collection, session, base, patchByPost };
}

function allBy(call: (method: string, path: string, init?: UntypedInit) => Promise<UntypedAnswer>) {
  return (path: string, init: UntypedInit = {}) =>
    itemsOf((query) => call('GET', path, { ...init, params: { ...init.params, query } }), init.params?.query);
}

/** Whether this is a page, and the service has another origin. */
function isOtherOrigin(base: string): boolean {
  const { origin } = (globalThis as { location?: Partial<Location> }).location ?? {};
  return origin !== undefined && new URL(base, origin).origin !== origin;
}
