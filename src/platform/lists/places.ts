import type { DataSource } from 'typeorm';

/** Places that are remembered of a list, and how many rows are between them at first. */
const MOST = 1_000;
const SPACING = 100;

interface Place {
  /** The number of rows before it, in ascending order. */
  position: number;
  id: number;
}

/** A way to rows: where it begins, and how many rows it passes over. Without an id it begins at the end of the list that it leaves. */
export interface Way {
  backward: boolean;
  id?: number;
  skipped: number;
}

/** The rows of a list at a moment. */
export interface Extent {
  /** See `EDITION`. */
  edition: string;
  total: number;
  /** The greatest id, of a hidden row or another. */
  last: number;
}

/**
 * Where rows stand in a list that is sorted by their ids. A place is true as long as no row has gone or moved, and rows were only
 * added behind the last one, which a statement compares in the snapshot that it reads.
 */
export class Places {
  private places: Place[] = [];
  private spacing = SPACING;

  constructor(public extent: Extent) {}

  /** Remembers where a row stands, unless one is known nearby. */
  learn(position: number, id: number): void {
    const index = this.indexOf(position);
    const others = [this.places[index - 1], this.places[index]];
    if (others.some((other) => other && Math.abs(other.position - position) < this.spacing)) return;
    this.places.splice(index, 0, { position, id });
    if (this.places.length > MOST) this.thin();
  }

  /** The shortest way to the rows from `first` to before `end`, by their positions in ascending order. */
  wayTo(first: number, end: number): Way {
    const before = this.places[this.indexOf(first + 1) - 1] as Place | undefined;
    const after = this.places[this.indexOf(end - 1)] as Place | undefined;
    const forward = { backward: false, id: before?.id, skipped: first - (before?.position ?? 0) };
    const backward = { backward: true, id: after?.id, skipped: (after?.position ?? this.extent.total - 1) - (end - 1) };
    return backward.skipped < forward.skipped ? backward : forward;
  }

  /** The index of the first place at this position or after it. */
  private indexOf(position: number): number {
    let low = 0;
    let high = this.places.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.places[middle].position < position) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  private thin(): void {
    this.spacing *= 2;
    let last = -Infinity;
    this.places = this.places.filter(({ position }) => {
      if (position - last < this.spacing) return false;
      last = position;
      return true;
    });
  }
}

const known = new WeakMap<DataSource, Map<string, Places>>();

/** What is known of each list, by its name. A list that a replica shows has another one. */
export function placesIn(database: DataSource): Map<string, Places> {
  let lists = known.get(database);
  if (!lists) known.set(database, (lists = new Map<string, Places>()));
  return lists;
}
