import type { Request, Response } from 'express';
import { ApiError } from '../errors/api-error';
import { codeOfStatus } from '../errors/error-codes';
import { bodyTooLarge } from './body-limit';
import { type BodyReader, bodyReader, type BodyRules, hasBody, requireShape } from './body-reader';
import { type BodyKind, kindOfType, MULTIPART, usualTypes } from './media-types';
import { requireModestValue } from './modest-json';
import type { RouteInput } from './route-input';

const LENGTH_REQUIRED = 411;

/** Who reads the body of a request: the service, a parser that the application has put before it, or what comes later. */
export class BodyReading {
  private readonly readBody: BodyReader;

  /** @param general the most that a body may have, in bytes, where its route says nothing else */
  constructor(private readonly general: number) {
    this.readBody = bodyReader(general);
  }

  /** Whether the service has to read it. */
  isToRead(request: Request, { body, multipart, streams }: RouteInput): boolean {
    if (!body && multipart === undefined) return false;
    if (request.body !== undefined) return checkParsed(request, body ?? {});
    if (multipart !== undefined && request.is(MULTIPART)) return checkForm(request, multipart, this.general);
    if (!body) return false;
    return !streams || isStructured(request, body);
  }

  async read(request: Request, response: Response, { body }: RouteInput): Promise<unknown> {
    // A client that has gone leaves a request that looks as if it had been read.
    if (hasBody(request) && request.readableDidRead && !request.socket.destroyed) throw alreadyRead(request);
    return this.readBody(request, response, body);
  }
}

/** What express.json() and its kin have read before the service could is held to the same measure. */
function checkParsed({ body }: Request, rules: BodyRules): false {
  requireModestValue(body, rules.values);
  const isParsed = typeof body === 'object' && body !== null && !Buffer.isBuffer(body);
  if (isParsed) requireShape(body, rules);
  return false;
}

/** An interceptor reads it, into memory unless it is told otherwise: no more than was announced comes. */
function checkForm({ headers }: Request, multipart: number | true, general: number): false {
  const length = headers['content-length'];
  if (length === undefined) {
    throw new ApiError(codeOfStatus(LENGTH_REQUIRED), { details: 'Send a form with files with its Content-Length' });
  }
  const limit = multipart === true ? general : multipart;
  if (Number(length) > limit) throw bodyTooLarge(limit);
  return false;
}

/** A handler that takes the request itself finds JSON or a form in it, as behind Nest's own parsers, and streams all else. */
function isStructured(request: Request, { types = usualTypes(request.method) }: BodyRules): boolean {
  const parsed = types.filter((type) => isParsedKind(kindOfType(type)));
  // With no types at all is() would answer with that of the request.
  const isParsed = parsed.length > 0 && typeof request.is(parsed) === 'string';
  return isParsed && request.method !== 'GET' && hasBody(request);
}

const isParsedKind = (kind: BodyKind): boolean => kind === 'json' || kind === 'form';

/** 500, for whoever wrote the application. */
function alreadyRead({ method, path }: Request): Error {
  return new Error(
    `The body of ${method} ${path} was read before the service could, and nothing was left in request.body. ` +
      'Have whatever reads it leave what it made of it there, as express.json() does, or take request.rawBody instead.',
  );
}
