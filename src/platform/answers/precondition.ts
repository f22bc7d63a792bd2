import type { Request } from 'express';
import { Precondition } from '../transactions/precondition';
import { VERSION, type Versioned } from '../http/entity-tag';

const CHANGING_METHODS = ['PUT', 'PATCH', 'DELETE'];
const MAX_VERSION = 2 ** 31 - 1;
/** A strong tag that begins with a version, see entity-tag.ts; the rest tells views and encodings of it apart. */
const VERSION_TAG = /(?<!W\/)"(\d{1,10})(?:-[^"]*)?"/g;
const WEAK_OR_STRONG = /"(\d{1,10})(?:-[^"]*)?"/g;

/**
 * What `If-Match` and `If-None-Match` demand of the row that the request is about to change (RFC 9110, 13.1). A tag
 * that isn't one of ours matches nothing.
 */
export function readPrecondition({ method, headers }: Request): Precondition | undefined {
  if (!CHANGING_METHODS.includes(method)) return undefined;
  const match = headers['if-match']?.trim();
  const noneMatch = headers['if-none-match']?.trim();
  // Any row there is will do, and one that isn't there is a 404.
  const only = match === undefined || match === '*' ? undefined : versionsIn(match, VERSION_TAG);
  if (noneMatch === '*') return new Precondition([], []);
  const not = noneMatch === undefined ? undefined : versionsIn(noneMatch, WEAK_OR_STRONG);
  return only || not ? new Precondition(only, not) : undefined;
}

/**
 * For the answer to a change that has written no row: what it shows is what there was all along.
 * @throws {StaleVersionError} when the caller expects another version of it
 */
export function requireCompared({ [VERSION]: version }: Versioned, { work }: Request): void {
  if (version !== undefined) work?.pendingPrecondition?.take().require(version);
}

function versionsIn(header: string, tag: RegExp): number[] {
  const versions = [...header.matchAll(tag)].map(([, version]) => Number(version));
  return versions.filter((version) => version <= MAX_VERSION);
}
