import { Readable } from 'node:stream';
import type { Request } from 'express';
import '../../conventions/requests/request-context';

/** HTTP/1.0 knows no interim answer. */
const awaitsContinue = ({ headers, httpVersion }: Request) => headers.expect !== undefined && httpVersion !== '1.0';

/**
 * The bytes that a request brings. It ends, without an error, also when its client goes away or the service stops: what has
 * come until then counts.
 */
export class RequestBody extends Readable {
  private over = false;

  constructor(private readonly request: Request) {
    super();
    request.on('data', (chunk: Buffer) => this.receive(chunk));
    request.pause();
    for (const event of ['end', 'error', 'close']) request.once(event, () => this.stop());
    // Of a request that was answered meanwhile, by its time limit or for being cut off, Node tells nothing more.
    request.res!.once('close', () => this.stop());
    if (awaitsContinue(request)) request.res!.writeContinue();
  }

  /** Takes nothing more. */
  stop(): void {
    if (this.over) return;
    this.over = true;
    this.push(null);
    // What still comes is let pass, so that the client gets to read the answer.
    this.request.resume();
  }

  override _read(): void {
    this.request.resume();
  }

  override _destroy(_error: Error | null, callback: () => void): void {
    this.over = true;
    this.request.resume();
    callback();
  }

  private receive(chunk: Buffer): void {
    if (this.over) return;
    this.request.timeLimit?.progress();
    if (!this.push(chunk)) this.request.pause();
  }
}
