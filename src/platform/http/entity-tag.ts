import type { Request } from 'express';
import { Encoding } from './compressed';

/** Where a representation keeps the version of its row. A symbol: it copies along with the attributes and never leaves. */
export const VERSION = Symbol('version');
/** Where it keeps which of several views of the row it is, when not everybody sees the same. */
export const VIEW = Symbol('view');

export interface Versioned {
  [VERSION]?: number;
  [VIEW]?: string;
}

const TAG = /(?:W\/)?"([\x21\x23-\x7e\x80-\xff]*)"/g;
const ENCODED = new RegExp(`-(${Object.values(Encoding).join('|')})$`);

/**
 * What is inside the quotes of a whole representation's entity tag (RFC 9110, 8.8.3): the version of the row, and what
 * else distinguishes representations of the same version. A projection by `fields` has none.
 */
export function entityTagOf(body: Versioned, { fields, representation }: Request): string | undefined {
  const version = body[VERSION];
  if (version === undefined || fields) return undefined;
  const { [VIEW]: view } = body;
  const variant = representation?.variant;
  return `${version}${view ? `-${view}` : ''}${variant ? `-${variant}` : ''}`;
}

export const quoted = (tag: string): string => `"${tag}"`;

/** Another encoding is other bytes, and so another tag. */
export const encodedTag = (tag: string, encoding: Encoding | undefined): string =>
  quoted(encoding ? `${tag}-${encoding}` : tag);

/**
 * The tag of `If-None-Match` that stands for what the caller would get, quoted; undefined when it has to be sent. In
 * whichever encoding the caller has it.
 */
export function knownTag(tag: string, { headers }: Request): string | undefined {
  const known = headers['if-none-match'];
  if (known === undefined) return undefined;
  if (known.trim() === '*') return quoted(tag);
  const match = tagsOf(known).find((one) => one.replace(ENCODED, '') === tag);
  return match === undefined ? undefined : quoted(match);
}

function tagsOf(header: string): string[] {
  return [...header.matchAll(TAG)].map(([, tag]) => tag);
}
