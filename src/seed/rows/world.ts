import { Random } from './random';
import { days } from '../../platform';

/** The seeded resources, each after the ones it refers to. */
export const RESOURCES = ['users', 'products', 'orders', 'posts', 'comments', 'replies'] as const;
export type Resource = (typeof RESOURCES)[number];
export type Counts = Record<Resource, number>;

/** What all rows depend on, beside their position. */
export interface World {
  seed: number;
  counts: Counts;
  /** The ids of each resource, by position. */
  ids: Record<Resource, number[]>;
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
export function originOf({ seed, counts, now }: World, resource: Resource, place: number): Origin {
  const random = new Random(seed, RESOURCES.indexOf(resource), place);
  const time = (place + random.next()) / counts[resource];
  return { random, time, created_at: new Date(now.getTime() - Math.round(SPAN * (1 - time))) };
}

/** The number of rows at a time, at least 1, so that there is one to refer to. */
export function countAt({ counts }: World, resource: Resource, time: number): number {
  return Math.max(1, Math.floor(counts[resource] * time));
}

export function latest(...dates: Date[]): Date {
  return new Date(Math.max(...dates.map((date) => date.getTime())));
}

/** The text of PostgreSQL's numeric. Money is computed in cents, exactly. */
export function money(cents: number): string {
  return (cents / 100).toFixed(2);
}
