import type { Belongings, Row } from './belongings';
import type { Prepare } from './prepared-request';
import type { Values } from './values';

/** What there is to know of a resource for the tests that ask all of them: a new one has a file in resources/. */
export interface Resource {
  /** As its paths name it. */
  noun: string;
  /** For each of its routes a request that succeeds. */
  requests: Record<string, Prepare>;
  /** Where it has a PATCH of `/<noun>/{id}`: what can be written. */
  writable?: Omit<Writable, 'noun'>;
  collections: Collection[];
}

export interface Writable {
  noun: string;
  /** All that it is made of. */
  attributes: Record<string, Values>;
  required: string[];
  /** What the others take when they are left out. */
  defaults: Record<string, unknown>;
  /** What a PUT that leaves it out leaves as it is, instead. */
  kept?: string[];
  /** Whether it can be replaced as a whole. */
  replaceable: boolean;
  /** What is required, and nothing more; another each time. */
  least: () => Record<string, unknown>;
  /** What is required beside it and is the id of a row, such as `{ product_id }`. Default: nothing */
  refersTo?: (own: Belongings) => Promise<Record<string, unknown>>;
  /** The table of its entity. Default: the noun, with underscores */
  table?: string;
  /** Where it is created, and with what of its own. Default: at `/<noun>`, with nothing */
  place?: (own: Belongings) => Promise<{ path: string; also?: object }>;
}

export interface Collection {
  /** Its path. */
  name: string;
  table: string;
  /** In their order, as an administrator sees them; those that are no columns of the table are read as they need it. */
  attributes: string[];
  sortable: string[];
  /** Empty where it has none. */
  statuses: string[];
  /** What `search` looks through. */
  textsOf: (item: Record<string, never>) => (string | null)[];
  /** Puts rows into it, each line's text into the texts of one of them, and says where it is when its name has an id. */
  fill: (own: Belongings, others: Belongings, lines: Line[]) => Promise<Place | void>;
}

/** What the rows of a collection are made of. Each value stands in several lines, so that only the id can tell those apart. */
export interface Line {
  text: string;
  index: number;
  /** Whether the index is. */
  even: boolean;
  dates: { created_at: string; updated_at: string };
}

export interface Place {
  path: string;
  /** Which rows of the table belong to it, in SQL. */
  where: string;
}

/** What every resource has. */
export const common = ['id', 'created_at', 'updated_at'];

/** One after the other, so that the ids are in their order. */
export async function each(lines: Line[], make: (line: Line) => Promise<Row | void>): Promise<void> {
  for (const line of lines) await make(line);
}
