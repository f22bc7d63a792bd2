import { STATUS_CODES } from 'node:http';
import type { Request } from 'express';
import { Page } from './page';
import { project } from '../input/fields';

/** A body without the envelope, for documents whose form a standard prescribes. */
export class Verbatim {
  constructor(readonly body: object) {}

  /** For a body that an interceptor has wrapped. */
  toJSON(): object {
    return this.body;
  }
}

/** The success envelope (variant A). A page has `pagination` beside `data`. */
export function envelope(status: number, body: unknown, request: Request): object {
  if (body instanceof Verbatim) return body.body;
  const code = status;
  const message = STATUS_CODES[status];
  const timestamp = Date.now();
  if (body instanceof Page) return { code, message, data: body.data, pagination: body.pagination, timestamp };
  const { fields } = request;
  const data = fields && typeof body === 'object' && body !== null ? project(body, fields) : body;
  return { code, message, data, timestamp };
}
