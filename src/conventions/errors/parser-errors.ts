import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { ApiError, validationError } from './api-error';
import { rawErrorResponse, sendError } from './error-response';
import { randomUUID } from 'node:crypto';
import { requestIdOf } from '../requests/request-id';

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';

/** Gives the envelope to what Node's server answers by itself, with an empty body, before there is a request. */
export function answerParserErrors(server: Server): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => answer(socket, fromParserError(error)));
  server.on('connect', (_request, socket) => answer(socket, methodNotAllowed()));
  // "100 Continue" is sent when the body is really going to be read, see json-body.ts.
  server.on('checkContinue', (request, response) => void server.emit('request', request, response));
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) =>
    sendError(response, new ApiError('EXPECTATION_FAILED'), requestIdOf(request)),
  );
}

function answer(socket: Duplex, error: ApiError): void {
  // A connection that is broken, or already in the middle of a response, can't be told anything.
  const writing = (socket as Duplex & { _httpMessage?: ServerResponse })._httpMessage?.headersSent;
  if (!socket.writable || writing) return void socket.destroy();
  socket.end(rawErrorResponse(error, randomUUID()), () => socket.destroy());
}

function fromParserError({ code, message }: NodeJS.ErrnoException): ApiError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new ApiError('HEADERS_TOO_LARGE');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new ApiError('REQUEST_TIMEOUT');
    case 'HPE_INVALID_METHOD':
      return methodNotAllowed();
    default:
      // The parser's message names the rule that was broken, never the bytes.
      return validationError([{ field: 'request', rule: 'http', message: `must be well-formed: ${reason(message)}` }]);
  }
}

function methodNotAllowed(): ApiError {
  return new ApiError('METHOD_NOT_ALLOWED', { headers: { Allow: METHODS } });
}

function reason(message: string): string {
  return message.replace(/^Parse Error: /, '');
}
