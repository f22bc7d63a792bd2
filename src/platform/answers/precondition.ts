import type { Request } from 'express';
import { Precondition } from '../transactions/precondition';
import { VERSION, type Versioned } from '../http/entity-tag';

const CHANGING_METHODS = ['PUT', 'PATCH', 'DELETE'];
const MAX_VERSION = 2 ** 31 - 1;
/**
 * A strong tag that begins with a version, see entity-tag.ts. The part after it identifies the view and the encoding.
 */
const VERSION_TAG = /(?<!W\/)"([1-9]\d{0,9})(?:-[^"]*)?"/g;
const WEAK_OR_STRONG = /"([1-9]\d{0,9})(?:-[^"]*)?"/g;

/**
 * The precondition of a write: `If-Match` and `If-None-Match` (RFC 9110, 13.1). A tag that this service never makes
 * matches nothing. Most POSTs create what has no version yet, so a POST has one only if its handler takes it.
 */
export function readPrecondition({ method, headers, isConditional }: Request): Precondition | undefined {
  if (!CHANGING_METHODS.includes(method) && !(method === 'POST' && isConditional)) return undefined;
  const match = headers['if-match']?.trim();
  const noneMatch = headers['if-none-match']?.trim();
  // `If-Match: *` accepts any row. A missing row is 404 anyway.
  const only = match === undefined || match === '*' ? undefined : versionsIn(match, VERSION_TAG);
  if (noneMatch === '*') return new Precondition([], []);
  const not = noneMatch === undefined ? undefined : versionsIn(noneMatch, WEAK_OR_STRONG);
  return only || not ? new Precondition(only, not) : undefined;
}

/**
 * For a write that has changed no row, and so has compared no version: the row in the answer is compared here.
 * @throws {StaleVersionError} when the caller expects another version
 */
export function requireCompared({ [VERSION]: version }: Versioned, { work }: Request): void {
  if (version !== undefined) work?.pendingPrecondition?.take().require(version);
}

function versionsIn(header: string, tag: RegExp): number[] {
  const versions = [...header.matchAll(tag)].map(([, version]) => Number(version));
  return versions.filter((version) => version <= MAX_VERSION);
}
