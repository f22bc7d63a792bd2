import pino, { type DestinationStream } from 'pino';

/** Characters that are kept at most before they are written. */
const MAX_WAITING = 8_192;

/**
 * Standard output, written once per turn of the event loop: a system call for each line takes 3 % of a simple request,
 * and more if another process reads them. Lines are kept here, because sonic-boom measures all kept ones for each that
 * is added, which takes 5 %.
 */
export class LogOutput implements DestinationStream {
  private readonly output = pino.destination({ dest: 1, sync: true });
  private lines: string[] = [];
  private length = 0;

  constructor() {
    process.once('exit', () => this.flushSync());
  }

  write(line: string): void {
    if (this.lines.push(line) === 1) setImmediate(() => this.flushSync());
    this.length += line.length;
    if (this.length >= MAX_WAITING) this.flushSync();
  }

  /**
   * pino calls `flushSync` for fatal lines. It isn't delegated to sonic-boom's, which retries for ever while the pipe
   * is blocked.
   */
  flushSync(): void {
    if (this.lines.length === 0) return;
    const text = this.lines.join('');
    this.lines = [];
    this.length = 0;
    this.output.write(text);
  }
}
