import cluster from 'node:cluster';
import type { Server, Socket } from 'node:net';
import type { Demo } from './startup';
import type { MetricSnapshot } from '../metrics';
import { type MetricsMessage, WorkerMessage } from './worker-messages';

/** Tells the primary that this worker was told to end. Returns false if there is no primary. */
export function announceLeaving(): boolean {
  return cluster.isWorker && process.send!(WorkerMessage.LEAVING);
}

/** Tells the primary of demo accounts. It then listens on this machine only. */
export function announceDemo({ open, offered }: Demo): void {
  if (open) process.send!(WorkerMessage.DEMO);
  if (offered) process.send!(WorkerMessage.OFFER);
}

/**
 * Tells the primary this worker's metrics whenever it asks.
 * @returns tells them once more, before the worker ends; resolves when they are sent
 */
export function answerMetrics(snapshot: () => Promise<MetricSnapshot[]>): () => Promise<void> {
  const tell = async () => {
    const told: MetricsMessage = { message: WorkerMessage.METRICS, metrics: await snapshot() };
    await new Promise<void>((resolve) => {
      // A primary that has ended needs no metrics.
      if (!process.connected) resolve();
      else process.send!(told, undefined, {}, () => resolve());
    });
  };
  process.on('message', (message) => {
    if (message === WorkerMessage.METRICS) void tell();
  });
  return tell;
}

/**
 * Serves the connections that the primary accepts.
 * @param onEnd called when the primary has sent the last connection
 */
export function serveForPrimary(server: Server, onEnd: () => void): void {
  process.on('message', (message, connection?: Socket) => {
    if (message === WorkerMessage.END) onEnd();
    // The connection is undefined if its client has gone meanwhile.
    if (message === WorkerMessage.CONNECTION && connection) serve(server, connection);
  });
  // Makes Node check for connections whose headers are late.
  server.emit('listening');
  process.send!(WorkerMessage.READY);
}

/** Serves a connection like one that the server itself has accepted. */
function serve(server: Server, connection: Socket): void {
  connection.allowHalfOpen = true;
  connection.setNoDelay(true);
  server.emit('connection', connection);
  // The primary has accepted it paused.
  connection.resume();
}
