import { randomUUID } from 'node:crypto';
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { Logger } from '@nestjs/common';
import type { Request } from 'express';
import { addressIn } from '../limits/client-address';
import { requestIdOf } from '../http/request-id';
import { ApiError, validationError } from '../errors/api-error';
import { rawErrorResponse, sendError } from '../errors/error-response';
import type { ServerSocket } from './kept-bytes';
import { keepsRest } from './pipelining';

/** Node's error about a message that its parser has refused. */
interface ParserError extends NodeJS.ErrnoException {
  rawPacket?: Buffer;
  /** The number of bytes of the packet before the error. */
  bytesParsed?: number;
}

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';
/** A valid request line with an unknown method: RFC 9110, 5.6.2 and RFC 9112, 3. */
const REQUEST_LINE = /^[!#$%&'*+.^_`|~\w-]+ \S+ HTTP\/1\.[01]\r?$/;
/** How long a refused connection stays open for its client to read the answer, in milliseconds. */
const LINGER = 1_000;

const logger = new Logger('Parser');

/** Answers with the error envelope what Node's server itself would answer without a body, before there is a request. */
export function answerParserErrors(server: Server): void {
  const latest = new WeakMap<Duplex, ServerResponse>();
  const refused = new WeakSet<Duplex>();
  server.prependListener('request', (request, response) => {
    const { socket } = request;
    latest.set(socket, response);
    // An idle connection would keep its last request, with the body.
    const forget = () => latest.get(socket) === response && latest.delete(socket);
    // A body may end after its answer, and may be malformed until then.
    response.once('close', () => (request.complete ? forget() : request.once('close', forget)));
  });
  server.on('clientError', (error, socket) => {
    if (keepsRest(error, socket)) return;
    // Each further packet causes another error.
    if (refused.has(socket)) return;
    refused.add(socket);
    answerInTurn(socket, fromParserError(error), latest.get(socket));
  });
  server.on('connect', (request, socket) => {
    serveOn(socket);
    answerInTurn(socket, methodNotAllowed(), latest.get(socket), requestIdOf(request));
  });
  // "100 Continue" is sent when the body will be read, see body-reader.ts.
  server.on('checkContinue', (request, response) => void server.emit('request', request, response));
  // See well-formed.ts.
  server.on('checkExpectation', (request, response) => void server.emit('request', request, response));
}

/**
 * Restores what Node removes from a connection that asks for a tunnel: earlier requests may still wait for their
 * answers.
 */
function serveOn(socket: Duplex): void {
  // Without a listener, a reset would end the process.
  socket.on('error', () => socket.destroy());
  socket.on('drain', () => (socket as ServerSocket)._httpMessage?.emit('drain'));
  // A reset is only noticed while the connection is read.
  socket.resume();
}

/** Answers after earlier requests on the same connection, and never in place of one of them. */
function answerInTurn(socket: Duplex, error: ApiError, latest: ServerResponse | undefined, requestId?: string): void {
  if (!socket.writable) return void socket.destroy();
  if (latest && !latest.req.complete) return answerBody(socket, error, latest);
  if (!latest || latest.closed) answer(socket, error, requestId);
  else latest.once('close', () => answer(socket, error, requestId));
}

/** Answers an error in the body of the latest request, unless it was answered already. */
function answerBody(socket: Duplex, error: ApiError, latest: ServerResponse): void {
  if (latest.headersSent) return void socket.destroy();
  const id = String(latest.getHeader('X-Request-Id') ?? requestIdOf(latest.req));
  // A request that still waits for its turn never starts, see Drain, so nothing else logs it.
  if (!isBegun(latest)) log(socket, error, id);
  latest.setHeader('Connection', 'close');
  sendError(latest, error, id);
}

const isBegun = ({ req }: ServerResponse): boolean => (req as Partial<Request>).startedAt !== undefined;

function log(socket: Duplex, { status }: ApiError, requestId: string): void {
  const address = addressIn((socket as Socket).remoteAddress) ?? null;
  logger.log({ request_id: requestId, method: null, route: null, status, user_id: null, address }, 'request');
}

function answer(socket: Duplex, error: ApiError, requestId: string = randomUUID()): void {
  if (!socket.writable) return void socket.destroy();
  log(socket, error, requestId);
  socket.end(rawErrorResponse(error, requestId));
  // Closing at once, with unread bytes of the client, would reset the connection and lose the answer.
  const timer = setTimeout(() => socket.destroy(), LINGER);
  socket.once('close', () => clearTimeout(timer)).resume();
}

function fromParserError(error: ParserError): ApiError {
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW':
      return new ApiError('HEADERS_TOO_LARGE');
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new ApiError('PAYLOAD_TOO_LARGE');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new ApiError('REQUEST_TIMEOUT');
    case 'HPE_INVALID_METHOD':
      return isRequestLine(error) ? methodNotAllowed() : malformed(error);
    default:
      return malformed(error);
  }
}

function isRequestLine({ rawPacket, bytesParsed = 0 }: ParserError): boolean {
  const text = rawPacket?.toString('latin1') ?? '';
  return REQUEST_LINE.test(text.slice(text.lastIndexOf('\n', bytesParsed) + 1).split('\n', 1)[0]);
}

function methodNotAllowed(): ApiError {
  return new ApiError('METHOD_NOT_ALLOWED', { headers: { Allow: METHODS } });
}

/** The parser's message names the violated rule, never the bytes. */
function malformed({ message }: ParserError): ApiError {
  const reason = message.replace(/^Parse Error: /, '');
  return validationError([{ field: 'request', rule: 'http', message: `must be well-formed: ${reason}` }]);
}
