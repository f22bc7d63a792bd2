import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomFillSync } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { type Caller, isAdmin } from '../auth/caller';
import { SigningKeys } from '../auth/signing-keys';
import { validationError } from '../errors/api-error';
import { pathsOf, ROOT } from '../routing/version';

/** The greatest length of a cursor, more than the longest sort value needs. */
export const MAX_CURSOR = 4_096;
export const CURSOR_PATTERN = '^[A-Za-z0-9_-]+$';

const CIPHER = 'aes-256-gcm';
/** Bytes of a nonce for GCM. It is random, so one secret is good for 2^32 cursors: with more, a nonce might repeat. */
const NONCE_LENGTH = 12;
/** Bytes of the authentication tag. */
const MARK_LENGTH = 16;
/** Parameters that select a page of a list, or what is shown of its items. */
const NOT_OF_THE_LIST = ['cursor', 'size', 'limit', 'total', 'fields', 'include'];

/** A position in a sorted list: next to an item, even if that item is deleted. */
export interface Position {
  /** The sort value of the item in JSON. */
  value: string | number | null;
  /** The item's id, which breaks ties. */
  id: number;
  /** True for the items before the position. */
  backwards: boolean;
  /** True in a list whose search has found many rows, so that the next page needn't look whether they are few. */
  isOfMany?: boolean;
}

/** The cursors of one request. */
export interface Cursors {
  /** The position of the request's own cursor; undefined at the beginning of the list. */
  position?: Position;
  seal: (position: Position) => string;
}

/**
 * Encrypts positions: cursors appear in URLs and logs, and the sort value may be an e-mail address. A cursor is only
 * valid for its own list: the same path, order, filters and search, and the same right to see all of it.
 */
@Injectable()
export class CursorSeal {
  private readonly secrets: KeyObject[];

  constructor(keys: SigningKeys) {
    this.secrets = keys.derive('encryption of cursors').map((secret) => createSecretKey(secret));
  }

  /** @throws {ApiError} VALIDATION_ERROR for a cursor that was altered, or belongs to another list */
  cursorsOf(request: Request): Cursors {
    const list = describeList(request);
    const { cursor } = request.query as Record<string, string | undefined>;
    return {
      position: cursor === undefined ? undefined : this.open(cursor, list),
      seal: (position) => this.seal(position, list),
    };
  }

  /**
   * The cursor after an id in another list, which is sorted by the id.
   * @param path the list, without the version, with the parameters that filter it
   */
  after(path: string, id: number, { user }: Request): string {
    const [place, parameters] = path.split('?');
    const list = described(`${ROOT}/${place}`, 'id', 'asc', [...new URLSearchParams(parameters)], user);
    return this.seal({ value: id, id, backwards: false }, list);
  }

  private seal(position: Position, list: Buffer): string {
    return encrypt(this.secrets[0], contentOf(position), list).toString('base64url');
  }

  private open(cursor: string, list: Buffer): Position {
    if (cursor.length > MAX_CURSOR) throw notACursor();
    const sealed = Buffer.from(cursor, 'base64url');
    // Another base64url spelling of the same bytes isn't a valid cursor.
    if (sealed.toString('base64url') !== cursor) throw notACursor();
    for (const secret of this.secrets) {
      const content = decrypt(secret, sealed, list);
      if (content !== undefined) return positionOf(content);
    }
    throw notACursor();
  }
}

/** 400 for a cursor that doesn't belong to this list. */
export function notACursor() {
  const message = 'must be a cursor that this list has given, with the same order, filters and search';
  return validationError([{ field: 'cursor', rule: 'cursor', message }]);
}

/**
 * The content of a cursor, kept short for URLs: the id alone if the list is sorted by id, `true` for backwards, and `false` for
 * many.
 */
function contentOf({ value, id, backwards, isOfMany }: Position): string {
  return JSON.stringify([
    ...(value === id ? [id] : [id, value]),
    ...(backwards ? [true] : []),
    ...(isOfMany ? [false] : []),
  ]);
}

function positionOf(content: string): Position {
  const parts = JSON.parse(content) as (Position['value'] | boolean)[];
  const [id, value = id] = parts.filter((part) => typeof part !== 'boolean') as [number, Position['value']?];
  return { value, id, backwards: parts.includes(true), ...(parts.includes(false) && { isOfMany: true }) };
}

function describeList(request: Request): Buffer {
  const { query, user } = request;
  const { sort, sortBy, order = 'asc', ...others } = query as Record<string, string | undefined>;
  const filters = Object.entries(others).filter(([name]) => !NOT_OF_THE_LIST.includes(name));
  return described(pathsOf(request).inTable, sort ?? sortBy ?? 'id', order, filters, user);
}

function described(path: string, sort: string, order: string, filters: [string, unknown][], user?: Caller): Buffer {
  filters.sort(([one], [other]) => (one < other ? -1 : 1));
  const place = path.toLowerCase().replace(/\/$/, '');
  return Buffer.from(JSON.stringify([place, sort, order, filters, isAdmin(user)]));
}

function encrypt(secret: KeyObject, content: string, list: Buffer): Buffer {
  const nonce = newNonce();
  const cipher = createCipheriv(CIPHER, secret, nonce).setAAD(list);
  const encrypted = cipher.update(content);
  // The output is empty: GCM needs no padding.
  cipher.final();
  return Buffer.concat([nonce, encrypted, cipher.getAuthTag()]);
}

/** Undefined if this secret has not sealed the cursor for this list. */
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

/** Generated in advance: a call for a few random bytes takes as long as encrypting. */
const nonces = Buffer.alloc(256 * NONCE_LENGTH);
let used = nonces.length;

/** The nonce is valid until the buffer is refilled. */
function newNonce(): Buffer {
  if (used === nonces.length) {
    randomFillSync(nonces);
    used = 0;
  }
  return nonces.subarray(used, (used += NONCE_LENGTH));
}
