import type { Request } from 'express';
import { Encoding } from './compressed';

/** The key of a row's version in its representation. A symbol is copied along with the attributes, and never sent. */
export const VERSION = Symbol('version');
/** The key of the view that a representation shows, if callers see different views of a row. */
export const VIEW = Symbol('view');

export interface Versioned {
  [VERSION]?: number;
  [VIEW]?: string;
}

const TAG = /(?:W\/)?"([\x21\x23-\x7e\x80-\xff]*)"/g;
const ENCODED = new RegExp(`-(${Object.values(Encoding).join('|')})$`);

/**
 * The entity tag of a complete representation, without quotes (RFC 9110, 8.8.3). It consists of the row's version, the
 * view and the variant. A projection by `fields` has no entity tag, and neither has an answer that includes other rows
 * (D-214).
 */
export function entityTagOf(body: Versioned, { fields, includes, representation }: Request): string | undefined {
  const version = body[VERSION];
  if (version === undefined || fields || includes) return undefined;
  const { [VIEW]: view } = body;
  const variant = representation?.variant;
  return `${version}${view ? `-${view}` : ''}${variant ? `-${variant}` : ''}`;
}

export const quoted = (tag: string): string => `"${tag}"`;

/** An encoding changes the bytes, so it needs a tag of its own. */
export const encodedTag = (tag: string, encoding: Encoding | undefined): string =>
  quoted(encoding ? `${tag}-${encoding}` : tag);

/**
 * The tag of `If-None-Match` that matches the answer, quoted. It matches in any encoding. Undefined if the answer must
 * be sent.
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
