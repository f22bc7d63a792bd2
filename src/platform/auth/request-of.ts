import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { ArgumentsHost } from '@nestjs/common';
import type { Request } from 'express';

/**
 * A client of a WebSocket gateway. Socket.IO's client holds the request of its handshake; the client of `ws` is found
 * by its socket.
 */
interface GatewayClient {
  request?: Request;
  _socket?: Socket;
}

/** The third argument of resolvers in Nest's GraphQL drivers. A subscription has its request in `extra`. */
interface GraphqlContext {
  req?: Request;
  extra?: { request?: Request };
}

const handshakes = new WeakMap<Socket, IncomingMessage>();

/** The kind of call that a handler serves: `http`, `ws`, `rpc`, `graphql` or another. */
export const kindOf = (host: ArgumentsHost): string => host.getType<string>();

/**
 * The request whose headers identify the caller. For a gateway it is the handshake. Undefined for a message of a
 * microservice, and for the client of a gateway that has a port of its own.
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

/** Lets {@link requestOf} find the handshakes of this server. Without a gateway the server still refuses handshakes. */
export function rememberHandshakes(server: Server): void {
  const remember = (request: IncomingMessage, socket: Socket) => void handshakes.set(socket, request);
  server.on('newListener', (event, listener) => {
    if (event !== 'upgrade' || listener === remember || server.listeners('upgrade').includes(remember)) return;
    server.prependListener('upgrade', remember);
  });
}
