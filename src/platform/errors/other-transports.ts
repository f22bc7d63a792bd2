import type { ArgumentsHost } from '@nestjs/common';
import { throwError } from 'rxjs';
import { kindOf } from '../auth/request-of';
import type { ApiError } from './api-error';

/** Nest's WsException and RpcException. The service itself doesn't depend on their packages. */
interface TransportException {
  getError(): string | object;
}

/** A client of a gateway: Socket.IO's has emit(); the client of `ws` has send(). */
interface GatewayClient {
  readyState?: number;
  send?(text: string): void;
  emit?(event: string, payload: object): void;
}

/** Answers an error without an HTTP response: each transport has its own form, with the same code and message. */
export function answerElsewhere(thrown: unknown, error: ApiError, host: ArgumentsHost): unknown {
  switch (kindOf(host)) {
    case 'ws':
      return void tellClient(host.switchToWs().getClient<GatewayClient>(), payloadOf(thrown, error));
    case 'rpc':
      return throwError(() => payloadOf(thrown, error));
    case 'graphql':
      return isGraphqlError(thrown) ? thrown : graphqlError(error);
    default:
      // The transport's own error handling takes over.
      throw thrown;
  }
}

/** The payload as Nest's own filters make it. A transport's own exception is sent unchanged. */
function payloadOf(thrown: unknown, error: ApiError): object {
  const message = isTransportException(thrown) ? thrown.getError() : { code: error.code, ...partsOf(error) };
  return typeof message === 'string' ? { status: 'error', message } : { status: 'error', ...message };
}

function partsOf({ message, details, fields, status }: ApiError) {
  return status >= 500 ? { message } : { message, details, ...(fields && { fields }) };
}

function tellClient(client: GatewayClient, payload: object): void {
  if (client.readyState !== undefined) client.send?.(JSON.stringify({ event: 'exception', data: payload }));
  else client.emit?.('exception', payload);
}

/** The GraphQL library adds the error to `errors` of its answer. */
function graphqlError(error: ApiError): Error {
  const { message, ...extensions } = partsOf(error);
  return Object.assign(new Error(message), { extensions: { code: error.code, ...extensions } });
}

export function isTransportException(thrown: unknown): thrown is TransportException {
  return thrown instanceof Error && typeof (thrown as Partial<TransportException>).getError === 'function';
}

export function isGraphqlError(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.name === 'GraphQLError';
}
