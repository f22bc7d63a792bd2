import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as SecureServer } from 'node:https';
import type { Duplex } from 'node:stream';
import { UnitOfWork } from '../transactions/unit-of-work';
import { isPause, KeptBytes, PAUSE, type ServerSocket } from './kept-bytes';

const queues = new WeakMap<Duplex, Queue>();

/**
 * Makes the parser of each connection stop at a pipelined request until the request before it is answered (D-25). Node would
 * make thousands of requests and responses of each 64 KiB.
 */
export function stopAtRequestsAhead(server: Server): void {
  // Node's own listeners have set the parser by then.
  server.on(server instanceof SecureServer ? 'secureConnection' : 'connection', (socket: ServerSocket) => {
    const parser = socket.parser!;
    const onIncoming = parser.onIncoming;
    const onIncomingInTurn: typeof onIncoming = (request, keepAlive) =>
      onIncoming(request, keepAlive) || (queues.get(socket)?.waits ? PAUSE : 0);
    parser.onIncoming = onIncomingInTurn;
  });
}

/**
 * @returns true if the error only means that the parser has stopped. The rest of the packet is kept for the waiting
 *   request
 */
export function keepsRest(error: Error, socket: Duplex): boolean {
  const queue = isPause(error) && queues.get(socket);
  if (queue) queue.bytes.keep(error);
  return Boolean(queue);
}

/**
 * Makes a pipelined request wait until the one before it was answered: a connection has one answer in the making, and
 * the next starts when the client has read it. Clients that don't pipeline pay nothing.
 * @param begin called when it is the request's turn
 * @returns true if the request must wait
 */
export function waitsForItsTurn({ socket }: IncomingMessage, response: ServerResponse, begin: () => void): boolean {
  // Node assigns the connection to a response when earlier responses have left.
  if (response.socket) return false;
  let queue = queues.get(socket);
  if (!queue) queues.set(socket, (queue = new Queue(socket)));
  queue.add(response, begin);
  return true;
}

/** The waiting request of a connection, and the bytes after it. */
class Queue {
  waits = false;
  readonly bytes: KeptBytes;

  constructor(private readonly socket: ServerSocket) {
    this.bytes = new KeptBytes(socket);
  }

  add(response: ServerResponse, begin: () => void): void {
    // The parser has not stopped, and would create thousands of requests.
    if (this.waits) return void this.socket.destroy();
    this.waits = true;
    // In another turn, so that a series of immediate answers doesn't delay other connections. Node emits the event
    // within the work of the request before, which may be in a unit of work.
    response.once('socket', () => UnitOfWork.outside(() => setImmediate(() => this.next(begin))));
  }

  /** Parses the rest of the request first: if its body is malformed, it is answered, and nothing starts. */
  private next(begin: () => void): void {
    if (this.socket.destroyed) return;
    this.waits = false;
    this.bytes.parse();
    begin();
  }
}
