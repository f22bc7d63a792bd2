import { Signal } from './signal';

/** A change of a measure, with a value for each of its labels. */
export interface Change {
  labels: Record<string, string>;
  amount: number;
}

/** A counter only grows; a gauge is what there is of something now. */
export type MeasureKind = 'counter' | 'gauge';

/**
 * A number that operators watch. Metrics read all of them; without metrics a change costs a look at a flag. The values
 * of labels are names that the code knows. None is a text of a caller: each new value would be a new series.
 */
export class Measure<L extends string = string> {
  private static readonly all: Measure[] = [];
  private readonly changes: Signal<Change>;

  /** All measures of the service, in the order in which their files were loaded. */
  static declared(): readonly Measure[] {
    return Measure.all;
  }

  /**
   * @param name as Prometheus has it: with the unit at its end, and `_total` for a counter
   * @param help a sentence for operators
   * @param begun labels that are 0 from the start on: Prometheus sees no growth in what appears as 1
   */
  constructor(
    readonly kind: MeasureKind,
    readonly name: string,
    readonly help: string,
    readonly labels: readonly L[] = [],
    readonly begun: readonly Record<L, string>[] = [],
  ) {
    this.changes = new Signal(name);
    Measure.all.push(this);
  }

  add(labels: Record<L, string>, amount = 1): void {
    if (this.changes.isHeard) this.changes.tell({ labels, amount });
  }

  hear(listener: (change: Change) => void): () => void {
    return this.changes.hear(listener);
  }
}

export const counter = <L extends string = never>(
  name: string,
  help: string,
  labels: readonly L[] = [],
  begun: readonly Record<L, string>[] = [],
): Measure<L> => new Measure('counter', name, help, labels, begun);

export const gauge = <L extends string = never>(
  name: string,
  help: string,
  labels: readonly L[] = [],
  begun: readonly Record<L, string>[] = [],
): Measure<L> => new Measure('gauge', name, help, labels, begun);
