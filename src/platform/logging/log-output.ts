import pino, { type DestinationStream } from 'pino';

/** Characters that are written before the turn ends. */
const MAX_WAITING = 8_192;

/**
 * Standard output, to which all lines of a turn of the event loop go at once: one system call for each line takes 3 % of a
 * simple request, and more where another process reads them.
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

  /** pino calls `flushSync` for fatal lines. Not sonic-boom's own, which retries for ever while nobody reads the pipe. */
  flushSync(): void {
    this.waiting = false;
    this.output.flush();
  }
}
