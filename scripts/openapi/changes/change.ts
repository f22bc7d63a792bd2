/** A difference between two documents, as it concerns callers. */
export interface Change {
  /** True if it can break a program that was written for the document before. */
  breaking: boolean;
  /** E.g. `GET /api/v1/users`. */
  where: string;
  /** A sentence without its full stop, e.g. `parameter size: may be at most 50, not 100`. */
  what: string;
}

/** Who writes a value: callers write `input`, the service writes `output`. */
export type Direction = 'input' | 'output';

/** Collects the changes of one place. */
export class Changes {
  readonly all: Change[] = [];

  constructor(private readonly where: string) {}

  breaks(what: string): void {
    this.all.push({ breaking: true, where: this.where, what });
  }

  adds(what: string): void {
    this.all.push({ breaking: false, where: this.where, what });
  }

  add(breaking: boolean, what: string): void {
    this.all.push({ breaking, where: this.where, what });
  }
}

/** The values of both sides by their names, in one order. */
export function pairs<T>(
  before: Record<string, T> = {},
  after: Record<string, T> = {},
): [name: string, before: T | undefined, after: T | undefined][] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].map((name) => [name, before[name], after[name]]);
}
