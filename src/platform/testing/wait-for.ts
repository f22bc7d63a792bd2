import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 10;
const PATIENCE_MS = 30_000;

/** Polls until the condition holds, for states that emit no event. @throws Error when the time is up */
export async function waitFor(
  condition: () => boolean | Promise<boolean>,
  patience: number = PATIENCE_MS,
): Promise<void> {
  const deadline = Date.now() + patience;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`Not so after ${patience} ms: ${condition.toString()}`);
    await sleep(POLL_MS);
  }
}
