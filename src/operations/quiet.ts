import { setImmediate as turnOfTheLoop } from 'node:timers/promises';

/** How long to wait for a moment without new connections, in milliseconds. */
const PATIENCE = 500;
/** A turn of the event loop, in milliseconds, in which next to nothing can have arrived unseen. */
const SHORT_TURN = 0.5;

/**
 * Resolves when no connection waits to be accepted: Node accepts one in a turn of its loop, so a turn without one has found
 * none.
 * @param accepted how many connections there have been
 */
export async function untilNobodyWaits(accepted: () => number): Promise<void> {
  const deadline = performance.now() + PATIENCE;
  // The rest of this turn, which doesn't look for connections any more.
  await turnOfTheLoop();
  for (let start = performance.now(); start < deadline; start = performance.now()) {
    const before = accepted();
    await turnOfTheLoop();
    if (accepted() === before && performance.now() - start < SHORT_TURN) return;
  }
}
