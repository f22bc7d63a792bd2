import type { Logger } from '@nestjs/common';

export interface RepeatedJobOptions {
  /** Milliseconds until the first run. A random part keeps instances from running at once. */
  first: number;
  /** Milliseconds from the end of a run to the next one. */
  interval: number;
  logger: Logger;
  /** What the log says of a run that failed. The next one comes all the same. */
  failure: string;
}

/** Repeats the work of a job until the application ends. */
export class RepeatedJob {
  private static readonly working = new Set<Promise<unknown>>();
  private static pause: Promise<unknown> | undefined;
  /** True when the application ends: the work should stop after its current step. */
  isEnding = false;
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;

  /** Does something while no job of the process works, for tests that count statements. Jobs that are due wait for its end. */
  static async between<T>(ask: () => Promise<T>): Promise<T> {
    let end = nothing;
    RepeatedJob.pause = new Promise<void>((resolve) => (end = resolve));
    try {
      await Promise.all(RepeatedJob.working);
      return await ask();
    } finally {
      RepeatedJob.pause = undefined;
      end();
    }
  }

  constructor(private readonly work: () => Promise<unknown>) {}

  /** For `onApplicationBootstrap()`. */
  begin({ first, interval, logger, failure }: RepeatedJobOptions): void {
    const repeatIn = (delay: number) => {
      this.timer = setTimeout(run, delay).unref();
    };
    const run = () => {
      const working = (RepeatedJob.pause ?? Promise.resolve())
        .then(() => this.work())
        .then(nothing, (error: unknown) => logger.warn({ err: error }, failure))
        .finally(() => {
          RepeatedJob.working.delete(working);
          if (!this.isEnding) repeatIn(interval);
        });
      RepeatedJob.working.add((this.running = working));
    };
    repeatIn(first);
  }

  /** For `beforeApplicationShutdown()`, before the connections are closed. Resolves when no run is under way. */
  async end(): Promise<void> {
    this.isEnding = true;
    clearTimeout(this.timer);
    await this.running;
  }
}

const nothing = (): void => undefined;
