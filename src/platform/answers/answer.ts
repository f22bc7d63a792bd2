import type { Request } from 'express';
import { type Page, pageIn, pageLinks } from './page';
import { entityTagOf } from '../http/entity-tag';
import { envelope } from './envelope';
import { toJson } from '../http/json';
import { bigintIn, type Loss, lossIn } from '../http/lossless-json';
import { locationOf } from './location';
import { requireJson, unwritable } from './require-json';

const JSON_TYPE = 'application/json; charset=utf-8';
/** text/plain, so that a browser never renders the text as a page, whatever it contains. */
const TEXT_TYPE = 'text/plain; charset=utf-8';
const JSON_BEGINNING = /^[[{]/;
const CREATED = 201;
/** Statuses whose answers have no body, whatever the handler returns. */
export const BODILESS = [204, 205, 304];

/** A successful answer, except for headers that depend on the connection or the time. */
export class Answer {
  constructor(
    readonly status: number,
    readonly headers: Record<string, string>,
    /** The whole body; empty if there is none. XML is made of its JSON when it is sent. */
    readonly text: string,
    /** The entity tag without its quotes. */
    readonly tag?: string,
  ) {}

  /** True for JSON that is sent as XML. A handler's own XML begins otherwise. */
  get becomesXml(): boolean {
    return this.headers['Content-Type'].includes('xml') && JSON_BEGINNING.test(this.text);
  }

  /** The value that a handler would return to get this answer. */
  get value(): unknown {
    if (this.text === '') return undefined;
    const isJson = this.headers['Content-Type'].includes('json') || this.becomesXml;
    return isJson ? (JSON.parse(this.text) as { data?: unknown }).data : this.text;
  }
}

/** Makes the answer of a handler's value and status. */
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

/** The media type of a text if the route sets none by `@Header()`. */
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
  const text = writtenBy(body, request);
  const loss = lossIn(body, text);
  if (loss) throw lossy(request, loss);
  return text;
}

function writtenBy(body: object, request: Request): string {
  try {
    return toJson(body);
  } catch (error) {
    const { message } = error as Error;
    const loss = message.includes('BigInt') ? bigintIn(body) : undefined;
    throw loss
      ? lossy(request, loss)
      : unwritable(request, message, 'return numbers and texts, and no object that holds itself');
  }
}

const lossy = (request: Request, { place, what, instead }: Loss): Error =>
  unwritable(request, `${what}, in ${place}`, `return ${instead}`);
