import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { bytesOf, type HostileRequest, type Target } from './hostile-requests';

/** The number of requests of a client that doesn't wait for answers. */
const PIPELINE = 30;
/** The least number of bytes that a client withholds. */
const HELD_BACK = 1;
const PATIENCE_MS = 60_000;

/** Sends hostile requests to a service, and keeps the connections that are left open. */
export class HostileClient {
  private readonly held = new Set<Socket>();

  constructor(
    private readonly port: number,
    private readonly targets: Record<HostileRequest['caller'], Target>,
  ) {}

  /** Returns the status of the answer. Undefined if none was waited for, or the connection was cut. */
  async send(request: HostileRequest): Promise<number | undefined> {
    const bytes = bytesOf(request, this.targets[request.caller]);
    const socket = connect({ port: this.port, host: '127.0.0.1' });
    socket.on('error', () => undefined);
    await Promise.race([once(socket, 'connect'), once(socket, 'close')]);
    return this[request.manner](socket, bytes, request);
  }

  /** Resolves when the service has cut all connections with unfinished requests. */
  async heldAreCut(): Promise<void> {
    const deadline = AbortSignal.timeout(PATIENCE_MS);
    for (const socket of this.held) if (!socket.closed) await once(socket, 'close', { signal: deadline });
  }

  private async ['waits'](socket: Socket, bytes: Buffer): Promise<number | undefined> {
    let head = '';
    socket.on('data', (chunk: Buffer) => {
      if (head.length < 20) head += chunk.toString('latin1', 0, 20);
      // Only the first answer matters.
      socket.end();
    });
    socket.write(bytes);
    if (!socket.closed) await once(socket, 'close', { signal: AbortSignal.timeout(PATIENCE_MS) });
    const status = /^HTTP\/1\.1 (\d{3})/.exec(head)?.[1];
    return status ? Number(status) : undefined;
  }

  private async ['resets'](socket: Socket, bytes: Buffer, { after }: HostileRequest): Promise<undefined> {
    socket.write(bytes.subarray(0, Math.ceil(bytes.length * (after / 20))));
    await sleep(after);
    socket.resetAndDestroy();
  }

  private ['holds back'](socket: Socket, bytes: Buffer): undefined {
    this.held.add(socket.resume());
    socket.write(bytes.subarray(0, bytes.length - HELD_BACK));
  }

  private async ['pipelines'](socket: Socket, bytes: Buffer, { after }: HostileRequest): Promise<undefined> {
    // Large requests are repeated twice only, to avoid megabytes.
    const times = bytes.length > 20_000 ? 2 : PIPELINE;
    for (let sent = 0; sent < times; sent++) socket.write(bytes);
    socket.pause();
    await sleep(after * 5);
    socket.destroy();
  }

  private async ['breaks its chunks'](socket: Socket, bytes: Buffer, { after }: HostileRequest): Promise<undefined> {
    const head = bytes.toString('latin1').replace(/Content-Length: \d+/, 'Transfer-Encoding: chunked');
    socket.write(`${head.slice(0, head.indexOf('\r\n\r\n') + 4)}5\r\n{"a":\r\nZZ\r\n`, 'latin1');
    socket.resume();
    await sleep(after);
    socket.destroy();
  }

  private async ['never reads'](socket: Socket, bytes: Buffer, { after }: HostileRequest): Promise<undefined> {
    socket.pause();
    socket.write(bytes);
    await sleep(after * 10);
    socket.resetAndDestroy();
  }
}
