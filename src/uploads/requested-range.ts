import type { Request } from 'express';
import parseRange from 'range-parser';
import { ApiError } from '../platform';
import type { ByteRange } from './bytes/byte-store';

/** The greatest length of `Range` in characters. A longer one is ignored, which RFC 9110, 14.2 allows for any range. */
const MAX_RANGE = 1_024;
/** A suffix range: the last bytes. */
const SUFFIX = /^-(\d+)$/;

/**
 * The requested range. Undefined for the whole content, also if several ranges or an invalid one are requested.
 * @param size the size of the content in bytes
 * @param tag its entity tag, in quotes
 * @throws {ApiError} RANGE_NOT_SATISFIABLE
 */
export function rangeOf(
  { method, headers }: Pick<Request, 'method' | 'headers'>,
  size: number,
  tag: string,
): ByteRange | undefined {
  const { range } = headers;
  // Other methods ignore `Range` (RFC 9110, 14.2).
  if (range === undefined || range.length > MAX_RANGE || method !== 'GET') return undefined;
  const condition = headers['if-range'];
  // `If-Range` doesn't match: the client gets the whole new content.
  if (condition !== undefined && condition !== tag) return undefined;
  const clamp = (one: string) =>
    one.trim().replace(SUFFIX, (_, length: string) => `-${Math.min(Number(length), size)}`);
  const set = range.indexOf('=') + 1;
  const within = range.slice(0, set) + range.slice(set).split(',').map(clamp).join();
  const ranges = parseRange(size, within);
  if (ranges === -1) throw notSatisfiable(size);
  return ranges === -2 || ranges.type !== 'bytes' || ranges.length !== 1 ? undefined : ranges[0];
}

/** 416 for a range outside of the content. */
export const notSatisfiable = (size: number): ApiError =>
  new ApiError('RANGE_NOT_SATISFIABLE', { headers: { 'Content-Range': `bytes */${size}` } });
