import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as SecureServer } from 'node:https';
import type { Duplex } from 'node:stream';
import { UnitOfWork } from '../transactions/unit-of-work';
import { isPause, KeptBytes, PAUSE, type ServerSocket } from './kept-bytes';

const queues = new WeakMap<Duplex, Queue>();

/**
 * Has the parser of each connection stop at a request that is sent before the one ahead of it was answered. Node would make a
 * request and a response of all that a client has sent ahead, which are thousands for each 64 KiB.
 */
export function stopAtRequestsAhead(server: Server): void {
  // Listeners of Node have given the connection its parser by then.
  server.on(server instanceof SecureServer ? 'secureConnection' : 'connection', (socket: ServerSocket) => {
    const parser = socket.parser!;
    const onIncoming = parser.onIncoming;
    parser.onIncoming = (request, keepAlive) =>
      onIncoming(request, keepAlive) || (queues.get(socket)?.waits ? PAUSE : 0);
  });
}

/** @returns whether the error is none: what is left of the packet is kept until the request that waits has its turn */
export function keepsRest(error: Error, socket: Duplex): boolean {
  const queue = isPause(error) && queues.get(socket);
  if (queue) queue.bytes.keep(error);
  return Boolean(queue);
}

/**
 * Has a request wait that was sent before the one ahead of it on its connection was answered: a connection has one answer in
 * the making, and nothing of the next is begun before its client has read that one. Whoever doesn't send ahead pays nothing.
 * @param begin called when it is the request's turn
 * @returns whether it has to wait
 */
export function waitsForItsTurn({ socket }: IncomingMessage, response: ServerResponse, begin: () => void): boolean {
  // Node gives a response its connection when those ahead of it have left.
  if (response.socket) return false;
  let queue = queues.get(socket);
  if (!queue) queues.set(socket, (queue = new Queue(socket)));
  queue.add(response, begin);
  return true;
}

/** The request that waits on a connection, and the bytes behind it. */
class Queue {
  waits = false;
  readonly bytes: KeptBytes;

  constructor(private readonly socket: ServerSocket) {
    this.bytes = new KeptBytes(socket);
  }

  add(response: ServerResponse, begin: () => void): void {
    // The parser didn't stop, and would make thousands of them.
    if (this.waits) return void this.socket.destroy();
    this.waits = true;
    // An answer that is there at once would otherwise begin the next, and all that were sent ahead keep everybody else waiting.
    // Node tells it in the course of what the request before has done, which may still be a unit of work.
    response.once('socket', () => UnitOfWork.outside(() => setImmediate(() => this.next(begin))));
  }

  /** What is left of the request comes first: who breaks its body has an answer then, and nothing of it is begun. */
  private next(begin: () => void): void {
    if (this.socket.destroyed) return;
    this.waits = false;
    this.bytes.parse();
    begin();
  }
}
