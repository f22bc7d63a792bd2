import type { DtoClass } from '../../src/platform/input/fields';
import type { SortableEntity } from '../../src/platform/testing';
import type { Fixtures, Row } from './fixtures';
import type { Prepare } from './prepared-request';
import type { Values } from './values';

/** A description of a resource for tests of all resources. A new resource needs a file in resources/. */
export interface Resource {
  /** The noun in its paths. */
  noun: string;
  /** A successful request for each of its routes. */
  requests: Record<string, Prepare>;
  /** Its rows of the table in access-matrix.spec.ts, if they don't stand there. */
  access?: string;
  /** Its writable attributes, if one of its requests is a PATCH of one row. */
  writable?: Omit<Writable, 'noun'>;
  /** Its lists; none if it can't be listed. */
  collections: Collection[];
}

export interface Writable {
  noun: string;
  /** The values of each attribute, whether it is a column or, as a list of ids, something else. */
  attributes: Record<string, Values>;
  required: string[];
  /** The body of its POST, which says what the others take when they are left out. */
  input: DtoClass;
  /** What a PUT that leaves it out leaves as it is, instead. */
  kept?: string[];
  /** What the answer of the creation has, and no other, such as a secret. Default: nothing */
  once?: string[];
  /** Whether it has a PUT. */
  replaceable: boolean;
  /** A new body with the required attributes only. */
  least: () => Record<string, unknown>;
  /** Required attributes that are ids of other rows, such as `{ product_id }`. Default: none */
  refersTo?: (own: Fixtures) => Promise<Record<string, unknown>>;
  /** The table of its entity. Default: that of its first collection, else the noun with underscores */
  table?: string;
  /** The path of its creation, and attributes that only the creation takes. Default: the path of its POST, none */
  place?: (own: Fixtures) => Promise<{ path: string; also?: object }>;
}

export interface Collection {
  /** The path of the collection. */
  name: string;
  /** The table of its rows. Default: that of the entity `sortable` */
  table?: string;
  /** The attributes in the order that an administrator sees. */
  attributes: string[];
  /** The entity, whose `@SortableBy()` has the names. */
  sortable: SortableEntity;
  /** Empty where it has none. */
  statuses: string[];
  /** The texts that `search` looks through. Left out if the collection has no search. */
  textsOf?: (item: Record<string, never>) => (string | null)[];
  /** Inserts a row for each line, whose texts contain the line's text. Returns the path if it contains an id. */
  fill: (own: Fixtures, others: Fixtures, lines: Line[]) => Promise<Place | void>;
}

/** The contents of a row. Each value occurs in several lines, so that only the id orders them. */
export interface Line {
  text: string;
  index: number;
  /** Whether the index is even. */
  even: boolean;
  dates: { created_at: string; updated_at: string };
}

export interface Place {
  path: string;
  /** An SQL condition for the collection's rows. */
  where: string;
}

/** The attributes of every resource. */
export const common = ['id', 'created_at', 'updated_at', 'version'];

/** Makes rows one after the other, so that their ids are ordered. */
export async function each(lines: Line[], make: (line: Line) => Promise<Row | void>): Promise<void> {
  for (const line of lines) await make(line);
}

/** A line for each text. Several lines have the same moments. */
export const linesOf = (texts: string[]): Line[] =>
  texts.map((text, index) => {
    const dates = { created_at: `2020-01-0${1 + (index % 4)}`, updated_at: `2020-02-0${1 + (index % 3)}` };
    return { text, index, even: index % 2 === 0, dates };
  });
