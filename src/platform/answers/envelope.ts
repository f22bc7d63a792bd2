import { STATUS_CODES } from 'node:http';
import type { Request } from 'express';
import { Page } from './page';
import { project } from '../input/fields';

/** A body that leaves as it is, without the envelope: for documents whose form others prescribe. */
export class Verbatim {
  constructor(readonly body: object) {}

  /** Within what an interceptor has put around it. */
  toJSON(): object {
    return this.body;
  }
}

/** The success envelope (variant A), with `pagination` beside `data` when it is a page. */
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
