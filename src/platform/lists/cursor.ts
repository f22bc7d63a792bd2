import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomFillSync } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { isAdmin } from '../auth/caller';
import { SigningKeys } from '../auth/signing-keys';
import { validationError } from '../errors/api-error';
import { pathsOf } from '../routing/version';

/** More than the longest value to sort by takes. */
export const MAX_CURSOR = 4_096;
export const CURSOR_PATTERN = '^[A-Za-z0-9_-]+$';

const CIPHER = 'aes-256-gcm';
/** Bytes, as GCM wants it. Random: one secret is good for 2^32 cursors before two of them may share one. */
const NONCE_LENGTH = 12;
/** Bytes of the mark that shows an alteration. */
const MARK_LENGTH = 16;
/** Parameters that say which part of a list is asked for, or how much of each item. */
const NOT_OF_THE_LIST = ['cursor', 'size', 'limit', 'fields'];

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
 * Makes positions unreadable and unforgeable: cursors stand in URLs, and so in logs, and an item may be sorted by somebody's
 * e-mail address. A cursor holds for the very list that it was made for: the same path, order, filters and search, and the
 * same right to see all of it.
 */
@Injectable()
export class CursorSeal {
  private readonly secrets: KeyObject[];

  constructor(keys: SigningKeys) {
    this.secrets = keys.derive('encryption of cursors').map((secret) => createSecretKey(secret));
  }

  /** @throws {ApiError} VALIDATION_ERROR for a cursor that was altered, or made for another list */
  cursorsOf(request: Request): Cursors {
    const list = describeList(request);
    const { cursor } = request.query as Record<string, string | undefined>;
    return {
      position: cursor === undefined ? undefined : this.open(cursor, list),
      seal: (position) => encrypt(this.secrets[0], contentOf(position), list).toString('base64url'),
    };
  }

  private open(cursor: string, list: Buffer): Position {
    if (cursor.length > MAX_CURSOR) throw notACursor();
    const sealed = Buffer.from(cursor, 'base64url');
    // Other spellings of the same bytes are no cursors of ours either.
    if (sealed.toString('base64url') !== cursor) throw notACursor();
    for (const secret of this.secrets) {
      const content = decrypt(secret, sealed, list);
      if (content !== undefined) return positionOf(content);
    }
    throw notACursor();
  }
}

/** 400 for a cursor that isn't one of this list. */
export function notACursor() {
  const message = 'must be a cursor that this list has given, with the same order, filters and search';
  return validationError([{ field: 'cursor', rule: 'cursor', message }]);
}

/** Short, as it stands in a URL: the id alone, where that is what the item was sorted by; a third value for backwards. */
function contentOf({ value, id, backwards }: Position): string {
  return JSON.stringify([...(value === id ? [id] : [id, value]), ...(backwards ? [true] : [])]);
}

function positionOf(content: string): Position {
  const parts = JSON.parse(content) as [id: number, ...rest: (Position['value'] | true)[]];
  const backwards = parts.at(-1) === true;
  const [id, value = id] = (backwards ? parts.slice(0, -1) : parts) as [number, Position['value']?];
  return { value, id, backwards };
}

function describeList(request: Request): Buffer {
  const { query, user } = request;
  const { sort, sortBy, order = 'asc', ...others } = query as Record<string, string | undefined>;
  const filters = Object.entries(others).filter(([name]) => !NOT_OF_THE_LIST.includes(name));
  filters.sort(([one], [other]) => (one < other ? -1 : 1));
  const place = pathsOf(request).inTable.toLowerCase().replace(/\/$/, '');
  return Buffer.from(JSON.stringify([place, sort ?? sortBy ?? 'id', order, filters, isAdmin(user)]));
}

function encrypt(secret: KeyObject, content: string, list: Buffer): Buffer {
  const nonce = newNonce();
  const cipher = createCipheriv(CIPHER, secret, nonce).setAAD(list);
  const encrypted = cipher.update(content);
  // Nothing more comes of it: the cipher has no blocks to fill.
  cipher.final();
  return Buffer.concat([nonce, encrypted, cipher.getAuthTag()]);
}

/** Undefined for what this secret has not encrypted, for this list. */
function decrypt(secret: KeyObject, sealed: Buffer, list: Buffer): string | undefined {
  if (sealed.length <= NONCE_LENGTH + MARK_LENGTH) return undefined;
  const [nonce, mark] = [sealed.subarray(0, NONCE_LENGTH), sealed.subarray(-MARK_LENGTH)];
  const cipher = createDecipheriv(CIPHER, secret, nonce, { authTagLength: MARK_LENGTH }).setAAD(list).setAuthTag(mark);
  try {
    return cipher.update(sealed.subarray(NONCE_LENGTH, -MARK_LENGTH)).toString() + cipher.final().toString();
  } catch {
    return undefined;
  }
}

/** Made in stock: asking for so few random bytes takes as long as encrypting. */
const nonces = Buffer.alloc(256 * NONCE_LENGTH);
let used = nonces.length;

/** Good until the stock is renewed. */
function newNonce(): Buffer {
  if (used === nonces.length) {
    randomFillSync(nonces);
    used = 0;
  }
  return nonces.subarray(used, (used += NONCE_LENGTH));
}
