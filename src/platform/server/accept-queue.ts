import { setImmediate as turnOfTheLoop } from 'node:timers/promises';

/** How long to wait for the best moment, in milliseconds. After that the next good one is taken. */
const PATIENCE = 500;
/** How long to wait for a good moment at all, in milliseconds. */
const LAST_MOMENT = 1_500;
/** If nobody connects for this time, in milliseconds, the clients that were answered last have come back. */
const QUIET = 25;
/** In a turn of the event loop this short, in milliseconds, hardly any connection can have arrived unseen. */
const SHORT_TURN = 0.5;

/**
 * Resolves when no connection waits to be accepted. Node accepts one connection per turn of its event loop, so a turn
 * without one means that the queue is empty. A client that was just answered may be about to connect again, so several
 * quiet turns are awaited.
 * @param latest when the latest connection was accepted, by the clock of `performance`
 */
export async function acceptQueueDrained(latest: () => number): Promise<void> {
  const begun = performance.now();
  // The rest of this turn accepts no connections any more.
  await turnOfTheLoop();
  for (let start = performance.now(); start - begun < LAST_MOMENT; start = performance.now()) {
    const before = latest();
    await turnOfTheLoop();
    const now = performance.now();
    const isQuiet = latest() === before && now - before >= (now - begun < PATIENCE ? QUIET : 0);
    if (isQuiet && now - start < SHORT_TURN) return;
  }
}
