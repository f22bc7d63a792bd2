import type { Request, Response } from 'express';
import { exposeHeaders } from '../http/exposed-headers';

const APPLIED = 'Preference-Applied';
exposeHeaders(APPLIED);

/** Longer headers are ignored, as RFC 7240 allows for every preference. */
const MAX_LENGTH = 256;

/** True if the first `handling` preference of the request is `lenient` (RFC 7240, 4.4). Unknown preferences are ignored. */
export function prefersLenient({ headers }: Request): boolean {
  // Node joins the values of repeated headers.
  const text = String(headers.prefer ?? '');
  if (text === '' || text.length > MAX_LENGTH) return false;
  const preferences = text.split(',').map((one) => one.split(';', 1)[0].trim().toLowerCase());
  return preferences.find((one) => /^handling\s*=/.test(one))?.replaceAll(/[\s"]/g, '') === 'handling=lenient';
}

/** Tells the client that its preference was followed. */
export function applyLenient(response: Response): void {
  response.setHeader(APPLIED, 'handling=lenient');
}
