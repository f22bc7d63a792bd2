import type { Request, Response } from 'express';
import { ApiError } from '../errors/api-error';
import { codeOfStatus } from '../errors/error-codes';
import { bodyTooLarge } from './body-limit';
import { type BodyRules, maxValuesOf, requireShape } from './body-parsing';
import { type BodyReader, bodyReader, hasBody } from './body-reader';
import { type BodyKind, kindOfType, MULTIPART, usualTypes } from './media-types';
import { requireBoundedValue } from './bounded-json';
import type { RouteInput } from './route-input';
import { withoutAttributes } from '../input/ignored-attributes';

const LENGTH_REQUIRED = 411;

/**
 * Decides who reads the body of a request: the service, a parser that the application has added before it, or a later
 * interceptor or handler.
 */
export class BodyReading {
  private readonly readBody: BodyReader;

  /** @param general the limit in bytes if a route sets none */
  constructor(private readonly general: number) {
    this.readBody = bodyReader(general);
  }

  /** True if the service reads the body. */
  isToRead(request: Request, { body, multipart, streams }: RouteInput): boolean {
    if (!body && multipart === undefined) return false;
    if (request.body !== undefined) return checkParsed(request, body ?? {});
    if (multipart !== undefined && request.is(MULTIPART)) return checkForm(request, multipart, this.general);
    if (!body) return false;
    return !streams || isStructured(request, body);
  }

  async read(request: Request, response: Response, { body }: RouteInput): Promise<unknown> {
    // If the client has gone, the request looks as if its body had been read.
    if (hasBody(request) && request.readableDidRead && !request.socket.destroyed) throw alreadyRead(request);
    return withoutAttributes(await this.readBody(request, response, body), body?.ignored ?? []);
  }
}

/** Checks a body that another parser, such as express.json(), has read before. */
function checkParsed({ body }: Request, rules: BodyRules): false {
  requireBoundedValue(body, maxValuesOf(rules));
  const isParsed = typeof body === 'object' && body !== null && !Buffer.isBuffer(body);
  if (isParsed) requireShape(body, rules);
  if (isParsed) withoutAttributes(body, rules.ignored ?? []);
  return false;
}

/**
 * Checks the announced length of a form, which an interceptor reads, by default into memory. Node lets no more bytes
 * pass than were announced.
 */
function checkForm({ headers }: Request, multipart: number | true, general: number): false {
  const length = headers['content-length'];
  if (length === undefined) {
    throw new ApiError(codeOfStatus(LENGTH_REQUIRED), { details: 'Send a form with files with its Content-Length' });
  }
  const limit = multipart === true ? general : multipart;
  if (Number(length) > limit) throw bodyTooLarge(limit);
  return false;
}

/**
 * For a handler that takes the request itself. JSON and forms are parsed, like by Nest's own parsers. Other bodies are
 * left for the handler to stream.
 */
function isStructured(request: Request, { types = usualTypes(request.method) }: BodyRules): boolean {
  const parsed = types.filter((type) => isParsedKind(kindOfType(type)));
  // Without types, is() would return the type of the request.
  const isParsed = parsed.length > 0 && typeof request.is(parsed) === 'string';
  return isParsed && request.method !== 'GET' && hasBody(request);
}

const isParsedKind = (kind: BodyKind): boolean => kind === 'json' || kind === 'form';

/** 500 with advice for the developer. */
function alreadyRead({ method, path }: Request): Error {
  return new Error(
    `The body of ${method} ${path} was read before the service could, and nothing was left in request.body. ` +
      'Have whatever reads it leave what it made of it there, as express.json() does, or take request.rawBody instead.',
  );
}
