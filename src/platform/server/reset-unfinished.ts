import type { IncomingMessage, ServerResponse } from 'node:http';
import { TLSSocket } from 'node:tls';
import type { Socket } from 'node:net';

/** The latest answer of a connection that speaks HTTP/1.0. */
const answers = new WeakMap<Socket, ServerResponse>();

/**
 * Resets a connection of HTTP/1.0 that is destroyed, by whatever code, before all of its answer has left. HTTP/1.0 has no
 * chunks: to its client, such as a proxy, an ordinary end of the connection is the end of an answer without
 * `Content-Length`. Over TLS the connection is closed without TLS's own end, which says the same as a reset.
 */
export function resetUnfinished({ httpVersionMinor, socket }: IncomingMessage, response: ServerResponse): void {
  if (httpVersionMinor > 0 || socket instanceof TLSSocket) return;
  const isWatched = answers.has(socket);
  answers.set(socket, response);
  if (isWatched) return;
  const destroy = socket.destroy.bind(socket);
  const resetOrDestroy = (error?: Error) => {
    socket.destroy = destroy;
    // It sends what is written and waits; destroy() then ends the waiting, and drops what the client hasn't read.
    if (isUnfinished(answers.get(socket)!)) socket.resetAndDestroy();
    return destroy(error);
  };
  socket.destroy = resetOrDestroy;
}

const isUnfinished = ({ headersSent, writableFinished }: ServerResponse) => headersSent && !writableFinished;
