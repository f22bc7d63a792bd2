import type { Type } from '@nestjs/common';
import { isPure } from './pure';

/** Of each class. */
const MAX_QUERIES = 500;

interface Known {
  /** What a valid query says, by name. */
  values: Record<string, unknown>;
  /** Names of those values that are lists. */
  lists: string[];
}

/**
 * What the queries of one class say that were valid before, by what came: most lists are asked for in the same few ways, and
 * validating one costs more than reading it. Each request gets an object and lists of its own, made by the class.
 */
export class KnownQueries<T extends object = object> {
  private readonly known = new Map<string, Known>();

  private constructor(private readonly type: Type<T>) {}

  /** Undefined for a class whose queries have to be validated each time. */
  static of<T extends object>(type: Type<T>): KnownQueries<T> | undefined {
    return isPure(type) ? new KnownQueries(type) : undefined;
  }

  /** A new query, if this one was valid before. */
  find(key: string): T | undefined {
    const known = this.known.get(key);
    const query = known && this.blank();
    if (!query) return undefined;
    Object.assign(query, known.values);
    for (const name of known.lists) (query as Record<string, unknown>)[name] = [...(known.values[name] as unknown[])];
    return query;
  }

  keep(key: string, query: T): void {
    const entries = Object.entries(query);
    if (!this.blank() || !entries.every(([, value]) => isSimple(value) || isList(value))) return;
    if (this.known.size >= MAX_QUERIES) this.known.clear();
    const lists = entries.filter(([, value]) => isList(value));
    // The handler changes its own query as it likes.
    const copies = lists.map(([name, list]) => [name, [...(list as unknown[])]]);
    this.known.set(key, {
      values: Object.fromEntries([...entries, ...copies]) as Record<string, unknown>,
      lists: lists.map(([name]) => name),
    });
  }

  /** Undefined when the class gives its queries defaults, which are validated, and may be others the next time. */
  private blank(): T | undefined {
    const query = new this.type();
    for (const name in query) if (query[name] !== undefined) return undefined;
    return query;
  }
}

const isSimple = (value: unknown): boolean => typeof value !== 'object' && typeof value !== 'function';
const isList = (value: unknown): value is unknown[] => Array.isArray(value) && value.every(isSimple);
