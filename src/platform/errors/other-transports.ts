import type { ArgumentsHost } from '@nestjs/common';
import { throwError } from 'rxjs';
import { kindOf } from '../auth/request-of';
import type { ApiError } from './api-error';

/** What WsException and RpcException of Nest are, whose packages the service itself doesn't need. */
interface TransportException {
  getError(): string | object;
}

/** Socket.IO's emits to the client, that of `ws` to itself. */
interface GatewayClient {
  readyState?: number;
  send?(text: string): void;
  emit?(event: string, payload: object): void;
}

/** Answers an error where there is no HTTP response: each transport in its own form, with the same code and message. */
export function answerElsewhere(thrown: unknown, error: ApiError, host: ArgumentsHost): unknown {
  switch (kindOf(host)) {
    case 'ws':
      return void tellClient(host.switchToWs().getClient<GatewayClient>(), payloadOf(thrown, error));
    case 'rpc':
      return throwError(() => payloadOf(thrown, error));
    case 'graphql':
      return isGraphqlError(thrown) ? thrown : graphqlError(error);
    default:
      // Whoever called knows what to do about it.
      throw thrown;
  }
}

/** As Nest's own filters put it. What a handler has thrown for its transport goes as it is. */
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

/** The library puts it into `errors` of its answer. */
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
