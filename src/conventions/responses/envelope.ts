import { STATUS_CODES } from 'node:http';
import type { Request } from 'express';
import { Page } from '../lists/page';
import { project } from './fields';
import '../requests/request-context';

/** A body that leaves as it is, without the envelope: for documents whose form others prescribe. */
export class Verbatim {
  constructor(readonly body: object) {}
}

/** The success envelope (variant A), with `pagination` beside `data` when it is a page. */
export function envelope(status: number, body: object, request: Request): object {
  if (body instanceof Verbatim) return body.body;
  const code = status;
  const message = STATUS_CODES[status];
  const timestamp = Date.now();
  if (body instanceof Page) return { code, message, data: body.data, pagination: body.pagination, timestamp };
  return { code, message, data: request.fields ? project(body, request.fields) : body, timestamp };
}

/** Where a resource that was just created can be read: by its own id, below its own noun. */
export function locationOf(body: object, request: Request): string {
  const nouns = request.path.split('/').filter(Boolean);
  const { id } = body as { id?: number };
  // /api/v1/users/7/posts creates /api/v1/posts/1
  const place = id === undefined ? nouns.slice(1) : [nouns.at(-1), id];
  return [request.apiRoot, ...place].join('/');
}
