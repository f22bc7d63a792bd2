/** A value of a series, in the text that Prometheus reads. */
export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;

/** @throws {Error} for a line that is neither a sample nor a comment */
export function samplesOf(text: string): Sample[] {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return lines.map((line) => {
    const [, name, labels = '', value] = SAMPLE.exec(line) ?? [];
    if (name === undefined) throw new Error(`No sample: ${line}`);
    return {
      name,
      labels: Object.fromEntries([...labels.matchAll(LABEL)].map(([, of, is]) => [of, is])),
      value: Number(value),
    };
  });
}

/** The metrics of a port. */
export class Scraper {
  /** @param port METRICS_PORT */
  constructor(private readonly port: () => number) {}

  get url(): string {
    return `http://127.0.0.1:${this.port()}/metrics`;
  }

  async samples(): Promise<Sample[]> {
    const answer = await fetch(this.url, { headers: { Connection: 'close' } });
    expect(answer.status).toBe(200);
    return samplesOf(await answer.text());
  }

  /** The sum of all series that have these labels. */
  async value(name: string, labels: Record<string, string> = {}): Promise<number> {
    return valueOf(await this.samples(), name, labels);
  }
}

export function valueOf(samples: Sample[], name: string, labels: Record<string, string> = {}): number {
  const has = (sample: Sample) => Object.entries(labels).every(([label, value]) => sample.labels[label] === value);
  return samples.filter((sample) => sample.name === name && has(sample)).reduce((sum, { value }) => sum + value, 0);
}
