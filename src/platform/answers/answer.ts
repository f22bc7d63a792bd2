import type { Request } from 'express';
import { type Page, pageIn, pageLinks } from './page';
import { entityTagOf } from '../http/entity-tag';
import { envelope } from './envelope';
import { toJson } from '../http/json';
import { locationOf } from './location';
import { requireJson, unwritable } from './writable';

const JSON_TYPE = 'application/json; charset=utf-8';
/** No browser takes it for a page, whatever it holds. */
const TEXT_TYPE = 'text/plain; charset=utf-8';
const CREATED = 201;
/** Statuses without a body, whatever the handler returns. */
export const BODILESS = [204, 205, 304];

/** A success as it leaves, but for what depends on the connection and the moment. */
export class Answer {
  constructor(
    readonly status: number,
    readonly headers: Record<string, string>,
    /** The whole body; empty when there is none. */
    readonly text: string,
    /** The entity tag, without its quotes. */
    readonly tag?: string,
  ) {}

  /** What a handler would return to be answered so. */
  get value(): unknown {
    if (this.text === '') return undefined;
    const isJson = this.headers['Content-Type'].includes('json');
    return isJson ? (JSON.parse(this.text) as { data?: unknown }).data : this.text;
  }
}

/** What a handler's value, sent with this status, becomes. */
export function answerOf(status: number, body: unknown, request: Request): Answer {
  if (body === undefined || BODILESS.includes(status)) return new Answer(status, {}, '');
  if (typeof body === 'string') return new Answer(status, { 'Content-Type': textTypeFor(request) }, body);
  const isObject = typeof body === 'object' && body !== null;
  const page = isObject ? pageIn(body) : undefined;
  if (!page) requireJson(body, request);
  const headers = headersOf(status, body, page, request);
  const tag = isObject ? entityTagOf(body, request) : undefined;
  return new Answer(status, headers, jsonOf(envelope(status, page ?? body, request), request), tag);
}

/** The media type of a text whose route says of none by `@Header()`. */
export const textTypeFor = ({ produces }: Request): string => (produces ? `${produces}; charset=utf-8` : TEXT_TYPE);

export function headersOf(
  status: number,
  body: unknown,
  page: Page<object> | undefined,
  request: Request,
): Record<string, string> {
  const headers: Record<string, string> = { 'Content-Type': request.representation?.mediaType ?? JSON_TYPE };
  if (page) headers.Link = pageLinks(page.pagination, request);
  const place = status === CREATED ? locationOf(body, request) : undefined;
  if (place !== undefined) headers.Location = place;
  return headers;
}

function jsonOf(body: object, request: Request): string {
  try {
    return toJson(body);
  } catch (error) {
    throw unwritable(request, (error as Error).message, 'return numbers and texts, and no object that holds itself');
  }
}
