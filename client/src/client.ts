import type { ReadChanges } from './change-types.js';
import type { Collection } from './collection-types.js';
import type {
  Answer,
  InitArgument,
  Method,
  OperationAt,
  PartialAnswer,
  PathsWith,
  WholeParametersOf,
} from './paths.js';
import type { RetryOptions } from './repetition.js';
import type { Session } from './session.js';
import type { TokenStore } from './token-store.js';
import type { ItemOf } from './collection-types.js';

export interface ClientOptions {
  /** Where the service is, without the version. E.g. `https://api.example.com` */
  url: string;
  /** Where tokens are kept. Default: in memory */
  store?: TokenStore;
  /** When failed requests are sent again. */
  retry?: Partial<RetryOptions>;
  /** Milliseconds that an attempt may take. Default: 35,000, as the service answers within 30 seconds */
  timeout?: number;
  /** Headers of all requests. */
  headers?: Record<string, string>;
  /** Called when the session has ended without `signOut()`, so that its user has to sign in again. */
  onSignedOut?: () => void;
  /** Sends requests. Default: the global `fetch` */
  fetch?: typeof globalThis.fetch;
  /** Sends PATCH as POST with `X-HTTP-Method-Override`. Default: in a browser, for another origin than the page's */
  patchByPost?: boolean;
}

/** What the generated module of a version says of its collections. */
type Facts = Record<string, { name: string; item: string | null; takesList: boolean }>;
type CollectionAt<Paths, Collections extends Facts, List extends keyof Collections> = Collection<
  Paths,
  List,
  Collections[List]['item'],
  Collections[List]['takesList']
>;
type ByName<Paths, Collections extends Facts> = {
  readonly [List in keyof Collections as Collections[List]['name']]: CollectionAt<Paths, Collections, List>;
};

/** A call of any path that the documents have with this method. */
type CallOf<Paths, M extends Method> = <Path extends PathsWith<Paths, M>>(
  path: Path,
  ...init: InitArgument<OperationAt<Paths, Path, M>>
) => Promise<Answer<OperationAt<Paths, Path, M>>>;

/** A read of any path, of all attributes or of those that `fields` names. */
interface Read<Paths> {
  <Path extends PathsWith<Paths, 'GET'>>(
    path: Path,
    ...init: InitArgument<OperationAt<Paths, Path, 'GET'>, WholeParametersOf<OperationAt<Paths, Path, 'GET'>>>
  ): Promise<Answer<OperationAt<Paths, Path, 'GET'>>>;
  <Path extends PathsWith<Paths, 'GET'>>(
    path: Path,
    ...init: InitArgument<OperationAt<Paths, Path, 'GET'>>
  ): Promise<PartialAnswer<OperationAt<Paths, Path, 'GET'>>>;
}

/** The paths whose answers are pages. */
type PagedPaths<Paths> = {
  [Path in PathsWith<Paths, 'GET'>]: [ItemOf<OperationAt<Paths, Path, 'GET'>>] extends [never] ? never : Path;
}[PathsWith<Paths, 'GET'>];

export interface Calls<Paths, Collections extends Facts> {
  /** `GET('/users/{id}', { params: { path: { id: 1 } } })`. Throws an `ApiError` for every answer that is no success. */
  readonly GET: Read<Paths>;
  readonly POST: CallOf<Paths, 'POST'>;
  readonly PUT: CallOf<Paths, 'PUT'>;
  readonly PATCH: CallOf<Paths, 'PATCH'>;
  readonly DELETE: CallOf<Paths, 'DELETE'>;
  /** The items of all pages of a path: `all('/users/{userId}/posts', { params: { path: { userId: 1 } } })`. */
  all<Path extends PagedPaths<Paths>>(
    path: Path,
    ...init: InitArgument<OperationAt<Paths, Path, 'GET'>, WholeParametersOf<OperationAt<Paths, Path, 'GET'>>>
  ): AsyncGenerator<ItemOf<OperationAt<Paths, Path, 'GET'>>, void>;
  all<Path extends PagedPaths<Paths>>(
    path: Path,
    ...init: InitArgument<OperationAt<Paths, Path, 'GET'>>
  ): AsyncGenerator<Partial<ItemOf<OperationAt<Paths, Path, 'GET'>>>, void>;
  /** A collection by its path: `collection('/invoices')` is `invoices`. */
  collection<List extends keyof Collections>(path: List): CollectionAt<Paths, Collections, List>;
  /** What has changed since a mark: `for await (const change of client.changes({ from }))`. */
  readonly changes: ReadChanges<Paths, Collections>;
  readonly session: Session;
  /** The URL of the version, to which paths are added. */
  readonly base: string;
  /** Whether PATCH is sent as POST. */
  readonly patchByPost: boolean;
}

export type Client<Paths, Collections extends Facts> = Calls<Paths, Collections> &
  Omit<ByName<Paths, Collections>, keyof Calls<Paths, Collections>>;
