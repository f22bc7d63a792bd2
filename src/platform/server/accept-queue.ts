import { setImmediate as turnOfTheLoop } from 'node:timers/promises';

/** How long to look for the best moment, in milliseconds; from then on the next good one is taken. */
const PATIENCE = 500;
/** How long to look for a good moment at all, in milliseconds. */
const LAST_MOMENT = 1_500;
/** How long nobody connects when the clients that were answered last have come back, in milliseconds. */
const QUIET = 25;
/** A turn of the event loop, in milliseconds, in which next to nothing can have arrived unseen. */
const SHORT_TURN = 0.5;

/**
 * Resolves when no connection waits to be accepted: Node accepts one in a turn of its loop, so a turn without one has found
 * none. A client that was answered a moment ago may just be about to connect again, so several quiet turns are better than
 * one.
 * @param latest when the latest connection was accepted, by the clock of `performance`
 */
export async function untilNobodyWaits(latest: () => number): Promise<void> {
  const begun = performance.now();
  // The rest of this turn, which doesn't look for connections any more.
  await turnOfTheLoop();
  for (let start = performance.now(); start - begun < LAST_MOMENT; start = performance.now()) {
    const before = latest();
    await turnOfTheLoop();
    const now = performance.now();
    const isQuiet = latest() === before && now - before >= (now - begun < PATIENCE ? QUIET : 0);
    if (isQuiet && now - start < SHORT_TURN) return;
  }
}
