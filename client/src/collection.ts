import { ApiError, type ApiErrorFacts } from './api-error.js';
import type { UntypedAnswer, UntypedInit } from './call.js';
import { itemsOf } from './pages.js';
import { pause } from './repetition.js';

type Call = (method: string, path: string, init?: UntypedInit) => Promise<UntypedAnswer>;
type Query = Record<string, unknown>;
type Id = string | number;
type Item = Record<string, unknown>;

export interface WriteOptions extends Pick<UntypedInit, 'signal' | 'timeout' | 'headers'> {
  /** Only this version is changed: an `etag`, or the `version` of what was read. Else the answer is 412. */
  ifMatch?: string | number;
}
export interface CreateOptions extends Pick<UntypedInit, 'signal' | 'timeout' | 'headers'> {
  /** The name of this effect, for programs that may be started again before they know the answer. Default: a random one */
  idempotencyKey?: string;
}
export interface ChangeOptions extends Pick<UntypedInit, 'signal' | 'timeout' | 'headers'> {
  /** How often it is read and written at most. Default: 5 */
  times?: number;
}

/** What became of an input: the item, or why there is none. */
export type EachResult<T> = { data: T; error?: never } | { error: ApiError; data?: never };

/** The result of an input as an answer has it. */
interface Result {
  status: number;
  data?: unknown;
  error?: Omit<ApiErrorFacts, 'status'>;
}

const TIMES = 5;
/** Milliseconds before what somebody else has changed is read again; a random part of it is waited. */
const TURN = 100;

/** The calls of a collection, by the paths of its list and of its items. Its types are in `client.ts`. */
export class UntypedCollection {
  constructor(
    private readonly call: Call,
    private readonly path: string,
    private readonly itemPath: string,
  ) {}

  list(query?: Query, options?: UntypedInit): Promise<UntypedAnswer> {
    return this.call('GET', this.path, { ...options, params: { query } });
  }

  all(query?: Query, options?: UntypedInit): AsyncGenerator<unknown, void> {
    return itemsOf((page) => this.list(page, options), query);
  }

  async get(id: Id, query?: Query, options?: UntypedInit): Promise<unknown> {
    return (await this.call('GET', this.itemPath, { ...options, params: { ...this.at(id), query } })).data;
  }

  async create(body: unknown, { idempotencyKey, ...options }: CreateOptions = {}): Promise<unknown> {
    const header = { 'Idempotency-Key': idempotencyKey };
    return (await this.call('POST', this.path, { ...options, params: { header }, body })).data;
  }

  async createAll(inputs: unknown[], options?: CreateOptions): Promise<unknown> {
    return this.create(inputs, options);
  }

  async createEach(inputs: unknown[], { headers, ...options }: CreateOptions = {}): Promise<EachResult<unknown>[]> {
    const lenient = { ...options, headers: { ...headers, Prefer: 'handling=lenient' } };
    return ((await this.create(inputs, lenient)) as Result[]).map(({ status, data, error }) =>
      error ? { error: new ApiError({ ...error, status }) } : { data },
    );
  }

  async replace(id: Id, body: unknown, options?: WriteOptions): Promise<unknown> {
    return (await this.write('PUT', id, options, body)).data;
  }

  async update(id: Id, body: unknown, options?: WriteOptions): Promise<unknown> {
    return (await this.write('PATCH', id, options, body)).data;
  }

  /** What is gone after an answer was lost has been removed by the lost one. */
  async remove(id: Id, options?: WriteOptions): Promise<void> {
    try {
      await this.write('DELETE', id, options);
    } catch (error) {
      if (!(error instanceof ApiError && error.uncertain && error.status === 404)) throw error;
    }
  }

  /**
   * Reads an item, and writes what `change` makes of it, unless somebody else has changed it meanwhile: then again.
   * @param change returns the attributes to change; none change nothing. The item is a copy, which it may change and return
   */
  async change(
    id: Id,
    change: (item: Item) => object | Promise<object>,
    options: ChangeOptions = {},
  ): Promise<unknown> {
    const { times = TIMES, ...rest } = options;
    let lost: ApiError | undefined;
    for (let time = 1; ; time++) {
      const { data, etag } = await this.call('GET', this.itemPath, { ...rest, params: this.at(id) });
      const attributes = Object.entries(await change(structuredClone(data as Item)));
      const changed = attributes.filter(([name, value]) => !isEqual((data as Item)[name], value));
      if (changed.length === 0) return data;
      // The write whose answer was lost may be what this item shows. Another one could count it twice.
      if (lost) throw lost;
      try {
        return (await this.write('PATCH', id, { ...rest, ifMatch: etag }, Object.fromEntries(changed))).data;
      } catch (error) {
        if (!(error instanceof ApiError) || error.status !== 412 || time >= times) throw error;
        if (error.uncertain) lost = error;
      }
      await pause(Math.random() * TURN, rest.signal);
    }
  }

  private write(
    method: string,
    id: Id,
    { ifMatch, ...options }: WriteOptions = {},
    body?: unknown,
  ): Promise<UntypedAnswer> {
    const tag = typeof ifMatch === 'number' ? `"${ifMatch}"` : ifMatch;
    return this.call(method, this.itemPath, {
      ...options,
      params: { ...this.at(id), header: { 'If-Match': tag } },
      body,
    });
  }

  /** The only parameter of the item's path. */
  private at(id: Id): { path: Record<string, Id> } {
    return { path: { [/\{(.+)\}$/.exec(this.itemPath)![1]!]: id } };
  }
}

/** As JSON, whose attributes come in the order of the document. */
const isEqual = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);
