import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { UnitOfWork } from '../database/unit-of-work';

/** Requests that may wait behind others of their connections, in this process; a connection that sends more is closed. */
const MAX_WAITING = 10_000;

let waiting = 0;
const queues = new WeakMap<Socket, Queue>();

/**
 * Has a request wait that was sent before the one ahead of it on its connection was answered: a connection has one answer in
 * the making, and nothing of the next is begun before its client has read that one. Whoever doesn't send ahead pays nothing.
 * @param begin called when it is the request's turn
 * @returns whether it has to wait
 */
export function waitsForItsTurn({ socket }: IncomingMessage, response: ServerResponse, begin: () => void): boolean {
  // Node gives a response its connection when those ahead of it have left.
  if (response.socket) return false;
  if (waiting >= MAX_WAITING) {
    socket.destroy();
    return true;
  }
  let queue = queues.get(socket);
  if (!queue) queues.set(socket, (queue = new Queue(socket)));
  queue.add(response, begin);
  return true;
}

/** The requests that wait on a connection. Nothing more is read of it meanwhile, so they are what had arrived at once. */
class Queue {
  private length = 0;
  private readonly stopReading = () => void this.socket.pause();

  constructor(private readonly socket: Socket) {
    socket.once('close', () => this.remove(this.length));
  }

  add(response: ServerResponse, begin: () => void): void {
    if (this.length === 0) {
      this.stopReading();
      // Node goes on by itself when a message was read to its end.
      this.socket.on('resume', this.stopReading);
    }
    this.length++;
    waiting++;
    response.once('socket', () => {
      this.remove(1);
      // Node tells it in the course of what the request before has done, which may still be a unit of work.
      UnitOfWork.outside(begin);
    });
  }

  private remove(count: number): void {
    if (count === 0) return;
    this.length -= count;
    waiting -= count;
    if (this.length > 0) return;
    this.socket.off('resume', this.stopReading);
    this.socket.resume();
  }
}
