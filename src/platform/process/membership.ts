import cluster from 'node:cluster';
import type { Server, Socket } from 'node:net';
import type { Demo } from './startup';
import { WorkerMessage } from './worker-messages';

/** Whether there is a primary, which then knows that this worker was told to end. */
export function announceLeaving(): boolean {
  return cluster.isWorker && process.send!(WorkerMessage.LEAVING);
}

/** Has the primary know of demo accounts, which it listens for this machine alone with. */
export function announceDemo({ open, offered }: Demo): void {
  if (open) process.send!(WorkerMessage.DEMO);
  if (offered) process.send!(WorkerMessage.OFFER);
}

/**
 * Serves the connections that the primary accepts.
 * @param onEnd when it has sent the last one
 */
export function serveForPrimary(server: Server, onEnd: () => void): void {
  process.on('message', (message, connection?: Socket) => {
    if (message === WorkerMessage.END) onEnd();
    // A client that has gone away meanwhile leaves nothing.
    if (message === WorkerMessage.CONNECTION && connection) serve(server, connection);
  });
  // From here on Node looks for connections that are late with their headers.
  server.emit('listening');
  process.send!(WorkerMessage.READY);
}

/** As the server's own would be. */
function serve(server: Server, connection: Socket): void {
  connection.allowHalfOpen = true;
  connection.setNoDelay(true);
  server.emit('connection', connection);
  // It was accepted to be read here.
  connection.resume();
}
