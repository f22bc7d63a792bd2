import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import type { Page } from './page';
import { Semaphore } from '../limits/semaphore';
import { toJsonBytes } from '../http/json';
import { MAX_ANSWER, pageTooLarge } from './largest';

/** Bytes from which on a page isn't made in one go. */
const LARGE = 256 * 1024;
/** Bytes that are kept for the envelope, with two cursors. */
const ENVELOPE = 16 * 1024;
/** How long a page is worked on before others get their turn, in milliseconds. */
const TURN = 10;
/** How many bytes a character can take in the answer. */
const PER_CHARACTER = 6;
/** How many it can take in memory. */
const PER_UNIT = 2;

/** Pages whose rows may wait in memory for their turn to be made; of more, those of the network that has most are 503. */
const MAX_WAITING = 32;

/** One after the other: what they are made of takes several times the room of what leaves. */
export const making = new Semaphore(1, MAX_WAITING);

/** Whether to make it by {@link makeItems}: many at once, or one of the largest, would keep everybody else waiting. */
export function isLarge(page: Page<object>): boolean {
  return page.largest > LARGE && PER_CHARACTER * charactersIn(page.data) > LARGE;
}

/** How many bytes the texts of a page take in memory at most. */
export const weightOf = ({ data }: Page<object>): number => PER_UNIT * charactersIn(data);

/** Of all texts in it. */
function charactersIn(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  let characters = 0;
  for (const part of Object.values(value)) characters += charactersIn(part);
  return characters;
}

/**
 * A page with as many items as fit, and the JSON of each of them, in turns with the rest of the service.
 * @param wanted whether somebody still waits for it
 * @throws {ApiError} VALIDATION_ERROR when all of them are wanted and they don't fit
 */
export async function makeItems(
  page: Page<object>,
  wanted: () => boolean,
): Promise<{ page: Page<object>; items: Buffer[] }> {
  const items: Buffer[] = [];
  let room = MAX_ANSWER - ENVELOPE;
  let turnEnds = 0;
  for (const item of page.backwards ? [...page.data].reverse() : page.data) {
    if (performance.now() > turnEnds) {
      await turnOfTheLoop();
      turnEnds = performance.now() + TURN;
    }
    if (!wanted()) break;
    const json = toJsonBytes(item);
    room -= json.length + 1;
    if (room < 0) return { page: shortened(page, items.length), items: inOrder(page, items) };
    items.push(json);
  }
  return { page, items: inOrder(page, items) };
}

function shortened(page: Page<object>, count: number): Page<object> {
  const shorter = count > 0 ? page.shortenedTo(count) : undefined;
  if (!shorter) throw pageTooLarge();
  return shorter;
}

function inOrder({ backwards }: Page<object>, items: Buffer[]): Buffer[] {
  return backwards ? items.reverse() : items;
}
