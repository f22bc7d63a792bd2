import { Random } from './random';

/** The resources that are seeded; each after those that it refers to. */
export const RESOURCES = ['users', 'products', 'orders', 'posts', 'comments', 'replies'] as const;
export type Resource = (typeof RESOURCES)[number];
export type Counts = Record<Resource, number>;

/** All that a row is made of, besides its place among the rows of its resource. */
export interface World {
  seed: number;
  counts: Counts;
  /** The ids of each resource, by place. */
  ids: Record<Resource, number[]>;
  /** Of all users alike; null when none of them may sign in. */
  passwordHash: string | null;
  /** The newest rows are from shortly before. */
  now: Date;
}

/** The beginning of a row: random numbers of its own, and when it was made. */
export interface Origin {
  random: Random;
  /** From 0, two years ago, to 1, which is now. */
  time: number;
  created_at: Date;
}

export const DAY = 24 * 60 * 60 * 1_000;
const SPAN = 2 * 365 * DAY;

/** Time runs along with the places: the rows of a resource are in the order of their creation. */
export function originOf({ seed, counts, now }: World, resource: Resource, place: number): Origin {
  const random = new Random(seed, RESOURCES.indexOf(resource), place);
  const time = (place + random.next()) / counts[resource];
  return { random, time, created_at: new Date(now.getTime() - Math.round(SPAN * (1 - time))) };
}

/** How many there were at a time; never none, so that there is one to refer to. */
export function countAt({ counts }: World, resource: Resource, time: number): number {
  return Math.max(1, Math.floor(counts[resource] * time));
}

export function latest(...dates: Date[]): Date {
  return new Date(Math.max(...dates.map((date) => date.getTime())));
}

/** As PostgreSQL's numeric reads it. Money is counted in cents, exactly. */
export function money(cents: number): string {
  return (cents / 100).toFixed(2);
}
