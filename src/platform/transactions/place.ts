import { AsyncLocalStorage } from 'node:async_hooks';
import { seconds } from '../units';
import type { Outcome, OwnTransaction } from './after-commit';
import type { Frame } from './frame';
import type { Origin } from './origin';

/** What a {@link UnitOfWork} is here, which imports this file. */
interface Unit {
  readonly origin?: Origin;
}

/** The position of an asynchronous flow. */
export interface Place {
  /** Undefined in a job, and while the service starts. */
  unit?: Unit;
  /** The request for which work outside of its unit writes. */
  origin?: Origin;
  /** The innermost shared transaction that the flow has begun. */
  frame?: Frame;
  /** The innermost transaction on its own connection. */
  own?: OwnTransaction;
  /** The query runner whose transaction of a single statement the flow is in. */
  alone?: object;
  /** True if the next transaction is only used in the flow that begins it. */
  apart?: boolean;
  /** The transaction on its own connection that was begun apart at this place. */
  begun?: OwnTransaction;
}

export const storage = new AsyncLocalStorage<Place | undefined>();

/** The major version of Node from which on it follows flows without watching each promise of the process. */
const FOLLOWS_ALL = 24;
const isFree = Number.parseInt(process.versions.node, 10) >= FOLLOWS_ALL;
/** How long flows keep their places when nothing is followed any more: a flow may outlive its request. */
const AFTERWARDS = seconds(30);

/** The number of followed flows and open transactions. Long at 0, an older Node needn't watch the promises of the process. */
let number = 0;
let rest: NodeJS.Timeout | undefined;

export const followed = (): number => number;

export function follow(): void {
  number++;
}

export function unfollow(): void {
  if (--number > 0 || isFree) return;
  // Outside, because a timer keeps its place.
  if (rest) rest.refresh();
  else storage.exit(() => (rest = setTimeout(restIfIdle, AFTERWARDS).unref()));
}

function restIfIdle(): void {
  if (number === 0) storage.disable();
}

/** Runs `work` at a place. Its caller stays where it is. */
export async function at<T>(place: Place, work: () => T | Promise<T>): Promise<T> {
  follow();
  try {
    return await storage.run(place, work);
  } finally {
    unfollow();
  }
}

/** Runs `work` so that its caller doesn't enter what `work` enters: the caller may start others in parallel. */
export async function apart<T>(work: () => Promise<T>): Promise<T> {
  // A new object, because Node compares the stores by identity.
  const place: Place = { ...storage.getStore(), apart: true, begun: undefined };
  let outcome: Outcome = 'Rollback';
  try {
    const result = await at(place, work);
    outcome = 'Commit';
    return result;
  } finally {
    place.begun?.flowIsOver(outcome);
  }
}

/** The request for which the current flow works, if any. */
export function currentOrigin(): Origin | undefined {
  const place = storage.getStore();
  return place?.unit?.origin ?? place?.origin;
}
