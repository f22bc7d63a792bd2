import type { Type } from '@nestjs/common';
import { Comparison } from './comparison';
import { isPure } from './pure';

/** The number of cached queries of one class. */
const MAX_QUERIES = 500;
/** Longer queries, such as those with many ids, are hardly sent twice. */
const MAX_KEY = 1_000;
/** A parameter whose values are hardly sent twice: each page of each walk has a cursor of its own. */
const ONCE = 'cursor';

interface Known {
  /** The values of a valid query, by name. */
  values: Record<string, unknown>;
  /** The names of values that are lists. */
  lists: string[];
}

/**
 * Caches valid queries of one class by their text: most lists are asked for in a few ways, and validating a query costs
 * more than reading it. Each request gets its own object with its own lists.
 */
export class KnownQueries<T extends object = object> {
  private readonly known = new Map<string, Known>();

  private constructor(private readonly type: Type<T>) {}

  /** Undefined for a class whose queries must be validated each time. */
  static of<T extends object>(type: Type<T>): KnownQueries<T> | undefined {
    return isPure(type) ? new KnownQueries(type) : undefined;
  }

  /** A new query object, if the same query was valid before. */
  find(key: string): T | undefined {
    const known = this.known.get(key);
    const query = known && this.blank();
    if (!query) return undefined;
    Object.assign(query, known.values);
    for (const name of known.lists) (query as Record<string, unknown>)[name] = [...(known.values[name] as unknown[])];
    return query;
  }

  keep(key: string, query: T): void {
    if (key.length > MAX_KEY || ONCE in query) return;
    const entries = Object.entries(query);
    if (!this.blank() || !entries.every(([, value]) => isSimple(value) || isList(value))) return;
    if (this.known.size >= MAX_QUERIES) this.known.clear();
    const lists = entries.filter(([, value]) => isList(value));
    // Copied, because the handler may change its query.
    const copies = lists.map(([name, list]) => [name, [...(list as unknown[])]]);
    this.known.set(key, {
      values: Object.fromEntries([...entries, ...copies]) as Record<string, unknown>,
      lists: lists.map(([name]) => name),
    });
  }

  /** Undefined if the class sets defaults, which must be validated and may change. */
  private blank(): T | undefined {
    const query = new this.type();
    for (const name in query) if (query[name] !== undefined) return undefined;
    return query;
  }
}

/** True for values that can't be changed: all requests get the same one. */
const isSimple = (value: unknown): boolean =>
  value instanceof Comparison || (typeof value !== 'object' && typeof value !== 'function');
const isList = (value: unknown): value is unknown[] => Array.isArray(value) && value.every(isSimple);
