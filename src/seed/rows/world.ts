import { Random } from './random';
import { days } from '../../platform';
import type { Row } from '../copy-rows';

/** A resource whose rows are invented. */
export interface Seed {
  noun: string;
  /** For `--help`: the number of rows unless another one is given. */
  usually: string;
  /** That number, derived from the numbers of the resources before. */
  count: (counts: Counts) => number;
  /** The resources of which there must be a row to refer to. Default: none */
  needs?: string[];
  /** Its tables, and the functions that make their rows. */
  tables: Record<string, Maker>;
  /** The tables that triggers write beside these. Default: none */
  byTriggers?: string[];
}

export type Maker = (world: World, place: number) => Row | Row[];
/** Rows by the noun of a resource. */
export type Counts = Record<string, number>;

const seeds: Seed[] = [];

/** Adds resources, each after the ones that it refers to. */
export function declareSeeds(...more: Seed[]): void {
  seeds.push(...more);
}

/** The seeded resources, each after the ones that it refers to. */
export const seededResources = (): readonly Seed[] => seeds;

/** What all rows depend on, beside their position. */
export interface World {
  seed: number;
  counts: Counts;
  /** The ids of each resource, by position. */
  ids: Record<string, number[]>;
  /** The password hash of all users; null if none of them may sign in. */
  passwordHash: string | null;
  /** The newest rows are slightly older. */
  now: Date;
}

/** What every row starts from: its random numbers and its creation time. */
export interface Origin {
  random: Random;
  /** From 0, two years ago, to 1, now. */
  time: number;
  created_at: Date;
}

export const DAY_MS = days(1);
const SPAN = 2 * 365 * DAY_MS;

/** The rows of a resource are ordered by creation time. */
export function originOf({ seed, counts, now }: World, noun: string, place: number): Origin {
  const index = seeds.findIndex((one) => one.noun === noun);
  const random = new Random(seed, index, place);
  const time = (place + random.next()) / counts[noun];
  return { random, time, created_at: new Date(now.getTime() - Math.round(SPAN * (1 - time))) };
}

/** The number of rows at a time, at least 1, so that there is one to refer to. */
export function countAt({ counts }: World, noun: string, time: number): number {
  return Math.max(1, Math.floor(counts[noun] * time));
}

export function latest(...dates: Date[]): Date {
  return new Date(Math.max(...dates.map((date) => date.getTime())));
}

/** The text of PostgreSQL's numeric. Money is computed in cents, exactly. */
export function money(cents: number): string {
  return (cents / 100).toFixed(2);
}
