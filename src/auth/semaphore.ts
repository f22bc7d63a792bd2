import { ServiceUnavailableException } from '@nestjs/common';

/** Lets so many work at once, has so many others wait in order, and turns the rest away. */
export class Semaphore {
  /** In the order in which they came. */
  private readonly waiting = new Set<() => void>();

  /**
   * @param permits how many may work at once
   * @param maxWaiting how many may wait for that
   */
  constructor(
    private permits: number,
    private readonly maxWaiting: number,
  ) {}

  /**
   * @param signal takes the work out of the queue; what has begun runs on
   * @throws {ServiceUnavailableException} when too many wait, or the signal is aborted before the work begins
   */
  async run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (signal?.aborted) throw notWanted();
    if (this.permits > 0) this.permits--;
    else await this.turn(signal);
    try {
      return await work();
    } finally {
      this.release();
    }
  }

  /** Resolves with the permit of somebody who has finished. */
  private turn(signal: AbortSignal | undefined): Promise<void> {
    if (this.waiting.size >= this.maxWaiting) throw new ServiceUnavailableException('Too many wait for this already');
    return new Promise((resolve, reject) => {
      const begin = () => {
        signal?.removeEventListener('abort', leave);
        resolve();
      };
      const leave = () => {
        this.waiting.delete(begin);
        reject(notWanted());
      };
      this.waiting.add(begin);
      signal?.addEventListener('abort', leave, { once: true });
    });
  }

  private release(): void {
    const [next] = this.waiting;
    if (!next) this.permits++;
    else if (this.waiting.delete(next)) next();
  }
}

function notWanted(): ServiceUnavailableException {
  return new ServiceUnavailableException('Nobody waits for the result any more');
}
