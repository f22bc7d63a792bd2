import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { ArgumentsHost } from '@nestjs/common';
import type { Request } from 'express';

/** A client of a gateway: Socket.IO's has the request of its handshake; that of `ws` is known by its connection. */
interface GatewayClient {
  request?: Request;
  _socket?: Socket;
}

/** What resolvers get as their third argument, by the GraphQL drivers of Nest; of a subscription in `extra`. */
interface GraphqlContext {
  req?: Request;
  extra?: { request?: Request };
}

const handshakes = new WeakMap<Socket, IncomingMessage>();

/** Which kind of caller a handler is called by: `http`, `ws`, `rpc`, `graphql` or another. */
export const kindOf = (host: ArgumentsHost): string => host.getType<string>();

/**
 * The request by which a caller came, with the headers that say who it is: of a gateway the handshake. A message of another
 * service has none, nor has the client of a gateway with a port of its own.
 */
export function requestOf(host: ArgumentsHost): Request | undefined {
  const kind = kindOf(host);
  if (kind === 'http') return host.switchToHttp().getRequest<Request>();
  if (kind === 'ws') return ofClient(host.switchToWs().getClient<GatewayClient>());
  if (kind !== 'graphql') return undefined;
  const [, , context] = host.getArgs<[unknown, unknown, GraphqlContext | undefined]>();
  return context?.req ?? context?.extra?.request;
}

function ofClient({ request, _socket: socket }: GatewayClient): Request | undefined {
  return request ?? (socket && (handshakes.get(socket) as Request | undefined));
}

/** Has {@link requestOf} find the handshakes of this server, which must go on to refuse them when there is no gateway. */
export function rememberHandshakes(server: Server): void {
  const remember = (request: IncomingMessage, socket: Socket) => void handshakes.set(socket, request);
  server.on('newListener', (event, listener) => {
    if (event !== 'upgrade' || listener === remember || server.listeners('upgrade').includes(remember)) return;
    server.prependListener('upgrade', remember);
  });
}
