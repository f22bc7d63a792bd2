import type { Request } from 'express';
import { ApiError } from '../errors/api-error';
import { XML_TYPES } from '../http/xml';

const JSON_TYPES = ['application/json'];
/** For a route that also takes a list of inputs: each of them on a line of its own. */
export const LIST_TYPES = [...JSON_TYPES, 'application/x-ndjson'];
const PATCH_TYPES = [...JSON_TYPES, 'application/merge-patch+json'];
export const URL_ENCODED = 'application/x-www-form-urlencoded';
export const MULTIPART = 'multipart/form-data';

/** How a body is parsed, by its media type. */
export type BodyKind = 'json' | 'lines' | 'form' | 'text' | 'bytes';

/** The media types of a route without `@ApiConsumes()`. */
export function usualTypes(method: string): string[] {
  return method === 'PATCH' ? PATCH_TYPES : JSON_TYPES;
}

/** XML is taken wherever JSON is without `@ApiConsumes()`. */
export const withXml = (types: string[]): string[] => [...types, ...XML_TYPES];

export const isXml = (type: string): boolean => (XML_TYPES as readonly string[]).includes(type);

/** The accepted media type that a body has. Multipart forms are excluded, as interceptors read them. */
export function typeOf(request: Request, types: string[]): string | undefined {
  const others = types.filter((type) => type !== MULTIPART);
  // Without types, is() would return the type of the request.
  const type = others.length > 0 && request.is(others);
  return typeof type === 'string' && isUtf8(request) ? type : undefined;
}

/** Only UTF-8: other charsets would be decoded by tables that the client chooses. */
function isUtf8({ headers }: Request): boolean {
  const charset = /;\s*charset="?([^";\s]+)/i.exec(headers['content-type'] ?? '')?.[1] ?? 'utf-8';
  return /^utf-?8$/i.test(charset);
}

export function kindOfType(type: string): BodyKind {
  if (type === 'application/json' || type.endsWith('+json')) return 'json';
  if (type === 'application/x-ndjson') return 'lines';
  if (type === URL_ENCODED) return 'form';
  return type.startsWith('text/') ? 'text' : 'bytes';
}

/** 415 with the media types that a request may have. @param types the route's own */
export function unsupportedMediaType(method: string, types = withXml(usualTypes(method))): ApiError {
  return new ApiError('UNSUPPORTED_MEDIA_TYPE', {
    details: `Send ${types.join(' or ')} in UTF-8`,
    headers: { [method === 'PATCH' ? 'Accept-Patch' : 'Accept']: types.join(', ') },
  });
}
