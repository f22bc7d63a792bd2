import pino, { type DestinationStream } from 'pino';

/** Characters that are buffered at most before they are written. */
const MAX_WAITING = 8_192;

/**
 * Standard output, written once per turn of the event loop: a system call for each line takes 3 % of a simple request,
 * and more if another process reads them.
 */
export class LogOutput implements DestinationStream {
  private readonly output = pino.destination({ dest: 1, sync: true, minLength: MAX_WAITING });
  private waiting = false;

  constructor() {
    process.once('exit', () => this.flushSync());
  }

  write(line: string): void {
    this.output.write(line);
    if (this.waiting) return;
    this.waiting = true;
    setImmediate(() => this.flushSync());
  }

  /**
   * pino calls `flushSync` for fatal lines. It isn't delegated to sonic-boom's, which retries for ever while the pipe
   * is blocked.
   */
  flushSync(): void {
    this.waiting = false;
    this.output.flush();
  }
}
