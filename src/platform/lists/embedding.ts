import type { Request, Response } from 'express';
import type { DataSource } from 'typeorm';
import { charactersIn } from '../answers/large-page';
import { LargestSize, MAX_ANSWER_BYTES, pageTooLarge } from '../answers/largest-size';
import { type CursorPagination, Page, pageIn, type Pagination } from '../answers/page';
import { Verbatim } from '../answers/envelope';
import { type ApiError, validationError } from '../errors/api-error';
import { toJson } from '../http/json';
import type { IncludedRow, Relation } from '../input/includes';
import { UnitOfWork } from '../transactions/unit-of-work';
import { type CursorSeal, MAX_CURSOR } from './cursor';
import { DEFAULT_SIZE } from './list-query';
import { relatedRows, type RelatedRows } from './related-rows';

/** The number of rows of a list within an item: those of the first page of the list itself. */
export const EMBEDDED = DEFAULT_SIZE;
/** Bytes around a list within an item: its pagination, with a cursor, and the names. */
const AROUND_LIST = MAX_CURSOR + 256;
/** The greatest number of bytes of a UTF-16 unit in JSON. */
const BYTES_PER_UNIT = 6;

type Item = Record<string, unknown>;
type Embed = (item: Item) => unknown;

export interface EmbeddingOptions {
  /** The requested attributes of each item. Default: all */
  fields?: string[];
  /** Looks the caller up again, for rows that have waited for their turn. */
  confirm?: () => Promise<void>;
}

/** Adds the rows that a request includes to the items of its answer: one statement for each relation. */
export class Embedding {
  private readonly work: UnitOfWork;

  constructor(
    private readonly request: Request,
    private readonly relations: Relation[],
    private readonly database: DataSource,
    private readonly cursors: CursorSeal,
    private readonly options: EmbeddingOptions,
  ) {
    this.work = request.work ?? new UnitOfWork();
  }

  /** @param body the value of the handler: a page, or one item; any other value is returned as it is */
  async into(body: object): Promise<object> {
    if (Array.isArray(body) || body instanceof Verbatim) return body;
    const page = pageIn(body);
    const whole = page ? await this.intoPage(page) : await this.intoItem(body as Item);
    if (this.work.waitedLong) await this.options.confirm?.();
    return whole;
  }

  private async intoPage(whole: Page<object>): Promise<Page<object>> {
    let page = whole as Page<Item>;
    const embeds: Embed[] = [];
    for (const relation of this.relations) {
      const items = page.backwards ? [...page.data].reverse() : page.data;
      const keys = keysOf(items, relation);
      const found = await this.read(relation, keys, page.mayBeShortened);
      page = shortened(page, items, relation, keys.slice(found.complete));
      embeds.push(this.embedding(relation, found));
    }
    const { fields } = this.options;
    const items = page.data.map((item) => this.whole(fields ? picked(item, fields) : item, item, embeds));
    return page.withItems(items, sumOf(this.relations.map(largestOf)));
  }

  private async intoItem(item: Item): Promise<object> {
    const embeds: Embed[] = [];
    for (const relation of this.relations) {
      const keys = keysOf([item], relation);
      const found = await this.read(relation, keys, false);
      if (found.complete < keys.length) throw includedTooLarge();
      embeds.push(this.embedding(relation, found));
    }
    const whole = this.whole(item, item, embeds);
    if (isTooLarge(whole)) throw includedTooLarge();
    const { request } = this;
    // The envelope reduces one item to its `fields`.
    if (request.fields) request.fields = [...request.fields, ...this.relations.map(({ name }) => name)];
    return whole;
  }

  private read(relation: Relation, keys: number[], mayShorten: boolean): Promise<RelatedRows> {
    const { database, work, request } = this;
    const counts = relation.list !== undefined && !this.hasCursors;
    // With cursors, one row more shows whether there is another page.
    const limit = relation.list === undefined ? 1 : EMBEDDED + (this.hasCursors ? 1 : 0);
    const wanted = { relation, keys, caller: request.user, limit, counts };
    return relatedRows(wanted, { database, work, response: request.res as Response, mayShorten });
  }

  /** What an item gets for a relation. Items with the same key share it. */
  private embedding(relation: Relation, { rows, totals }: RelatedRows): Embed {
    const known = new Map<unknown, unknown>();
    const valueOf = (key: number) => {
      const found = rows.get(key) ?? [];
      if (relation.list) return this.listOf(relation, key, found, totals.get(key) ?? 0);
      return found.length > 0 ? this.represent(relation, found[0]) : null;
    };
    return (item) => {
      const key = keyOf(item, relation);
      if (key === null) return null;
      if (!known.has(key)) known.set(key, valueOf(key));
      return known.get(key);
    };
  }

  /** The first page of a list, as the list itself answers it. */
  private listOf(relation: Relation, key: number, found: IncludedRow[], total: number): object {
    const rows = found.slice(0, EMBEDDED);
    const data = rows.map((row) => this.represent(relation, row));
    const size = EMBEDDED;
    if (!this.hasCursors) {
      return { data, pagination: { page: 0, size, total, totalPages: Math.ceil(total / size) } satisfies Pagination };
    }
    const isLast = found.length === rows.length;
    const next = isLast ? null : this.cursors.after(relation.list!(key), rows.at(-1)!.id, this.request);
    return { data, pagination: { size, next, previous: null } satisfies CursorPagination };
  }

  /** Interceptors that reduce the value of a handler don't see it, so it is a plain object, which they leave alone. */
  private represent({ name, rows }: Relation, row: IncludedRow): object {
    const dto = rows.toDto(row, this.request.user);
    if (Object.getPrototypeOf(dto) === Object.prototype) return dto;
    throw new Error(`${name} is included as an instance of a class: return a plain object from its toDto`);
  }

  private whole(own: Item, item: Item, embeds: Embed[]): Item {
    const embedded = this.relations.map(({ name }, index) => [name, embeds[index](item)] as const);
    return Object.assign({}, own, Object.fromEntries(embedded));
  }

  private get hasCursors(): boolean {
    return this.request.version === 2;
  }
}

/** The keys of some items, each once and in their order. */
function keysOf(items: Item[], relation: Relation): number[] {
  return [...new Set(items.map((item) => keyOf(item, relation)).filter((key) => key !== null))];
}

/** @throws {Error} 500 for an item that lacks the attribute, as it would have no rows */
function keyOf(item: Item, { name, key }: Relation): number | null {
  const value = item[key] as number | null | undefined;
  if (value !== undefined) return value;
  throw new Error(
    `${name} can't be included in an answer without ${key}: read the list by paginate(), and return its DTOs`,
  );
}

/** The page before the first item whose rows are too large. @throws {ApiError} VALIDATION_ERROR when there is none */
function shortened(page: Page<Item>, items: Item[], relation: Relation, missing: number[]): Page<Item> {
  if (missing.length === 0) return page;
  const lacking = new Set<number | null>(missing);
  const count = items.findIndex((item) => lacking.has(keyOf(item, relation)));
  const shorter = count > 0 ? page.shortenedTo(count) : undefined;
  if (!shorter) throw pageTooLarge();
  return shorter;
}

const picked = (item: Item, names: string[]): Item => Object.fromEntries(names.map((name) => [name, item[name]]));

/** The greatest size in bytes of what an item includes by a relation. */
function largestOf({ name, rows, list }: Relation): number {
  const { whole } = LargestSize.of(rows.shown);
  return name.length + BYTES_PER_UNIT + (list ? EMBEDDED * whole + AROUND_LIST : whole);
}

const sumOf = (numbers: number[]): number => numbers.reduce((sum, number) => sum + number, 0);

function isTooLarge(item: Item): boolean {
  return BYTES_PER_UNIT * charactersIn(item) > MAX_ANSWER_BYTES && Buffer.byteLength(toJson(item)) > MAX_ANSWER_BYTES;
}

/** 400 for one item that is larger than an answer may be, with what it includes. */
function includedTooLarge(): ApiError {
  const message = 'must name less: the answer would have more than 8 MiB';
  return validationError([{ field: 'include', rule: 'bytes', message }]);
}
