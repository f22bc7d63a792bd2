import { createHmac, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { SigningKeys } from '../../auth/signing-keys';
import { validationError } from '../errors/api-error';
import { MAX_CURSOR } from './list-query';

/** Bytes of the seal: 128 bits can't be guessed, and a cursor stands in a URL. */
const SEAL_LENGTH = 16;
/** Which part of a collection is asked for, or how much of each item, but not which collection in which order. */
const NOT_OF_THE_LIST = ['cursor', 'size', 'limit', 'fields', 'sort', 'sortBy', 'order'];

/** A place in a sorted collection: next to an item, whether that is still there or not. */
export interface Position {
  /** What the item was sorted by, as JSON has it. */
  value: string | number | null;
  /** The item's id, which breaks ties. */
  id: number;
  /** Whether the items before it are meant. */
  backwards: boolean;
}

/** The cursors of one request's collection. */
export interface Cursors {
  /** Where the request's own cursor leads to; undefined is the beginning. */
  position?: Position;
  seal: (position: Position) => string;
}

/**
 * Makes positions opaque and unforgeable. A cursor holds for the very list that it was made for: the same path, order,
 * filters and search.
 */
@Injectable()
export class CursorSeal {
  private readonly secrets: Buffer[];

  constructor(keys: SigningKeys) {
    this.secrets = keys.derive('cursors');
  }

  /** @throws {ApiError} VALIDATION_ERROR for a cursor that was altered, or made for another list */
  cursorsOf(request: Request): Cursors {
    const list = describeList(request);
    const { cursor } = request.query as Record<string, string | undefined>;
    return {
      position: cursor === undefined ? undefined : this.open(cursor, list),
      seal: (position) => this.seal(position, list),
    };
  }

  private seal({ value, id, backwards }: Position, list: string): string {
    const content = JSON.stringify([value, id, backwards]);
    const mark = sign(this.secrets[0], content, list);
    return Buffer.concat([mark, Buffer.from(content)]).toString('base64url');
  }

  private open(cursor: string, list: string): Position {
    if (cursor.length > MAX_CURSOR) throw notACursor();
    const bytes = Buffer.from(cursor, 'base64url');
    const mark = bytes.subarray(0, SEAL_LENGTH);
    const content = bytes.subarray(SEAL_LENGTH).toString();
    const known = this.secrets.some((secret) => isSame(sign(secret, content, list), mark));
    // Other spellings of the same bytes are no cursors of ours either.
    if (!known || bytes.toString('base64url') !== cursor) throw notACursor();
    const [value, id, backwards] = JSON.parse(content) as [Position['value'], number, boolean];
    return { value, id, backwards };
  }
}

/** 400 for a cursor that isn't one of this list. */
export function notACursor() {
  const message = 'must be a cursor that this list has given, with the same order, filters and search';
  return validationError([{ field: 'cursor', rule: 'cursor', message }]);
}

function describeList({ path, query }: Request): string {
  const { sort, sortBy, order = 'asc', ...others } = query as Record<string, string | undefined>;
  const filters = Object.entries(others).filter(([name]) => !NOT_OF_THE_LIST.includes(name));
  const place = path.toLowerCase().replace(/\/$/, '');
  return JSON.stringify([
    place,
    sort ?? sortBy ?? 'id',
    order,
    filters.sort(([one], [other]) => (one < other ? -1 : 1)),
  ]);
}

function sign(secret: Buffer, content: string, list: string): Buffer {
  const mark = createHmac('sha256', secret)
    .update(JSON.stringify([content, list]))
    .digest();
  return mark.subarray(0, SEAL_LENGTH);
}

function isSame(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}
