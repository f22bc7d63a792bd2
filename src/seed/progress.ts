import { Presets, SingleBar } from 'cli-progress';
import type { Counts } from './rows/world';

/** Reports the progress. */
export interface Progress {
  /** Starts the next resource. */
  begin(what: string): void;
  advance(count: number): void;
  end(): void;
}

/** A bar on a terminal, otherwise a line for each resource. */
export function createProgress(output: NodeJS.WriteStream | NodeJS.WritableStream, counts: Counts): Progress {
  return 'isTTY' in output && output.isTTY ? new Bar(output, counts) : new Lines(output, counts);
}

class Bar implements Progress {
  private readonly bar: SingleBar;

  constructor(output: NodeJS.WritableStream, counts: Counts) {
    const format = '{bar} {percentage} % | {what} | {duration_formatted}, {eta_formatted} left';
    this.bar = new SingleBar({ format, stream: output, hideCursor: true, barsize: 30 }, Presets.shades_classic);
    const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
    this.bar.start(total, 0, { what: '' });
  }

  begin(what: string): void {
    this.bar.update({ what });
  }

  advance(count: number): void {
    this.bar.increment(count);
  }

  end(): void {
    this.bar.stop();
  }
}

class Lines implements Progress {
  constructor(
    private readonly output: NodeJS.WritableStream,
    private readonly counts: Counts,
  ) {}

  begin(what: string): void {
    if (this.counts[what] > 0) this.output.write(`Writing ${this.counts[what]} ${what}\n`);
  }

  advance(): void {}

  end(): void {}
}
