import type { Page } from './page';
import { LoopTurns } from '../limits/loop-turns';
import { Semaphore } from '../limits/semaphore';
import { MAX_ANSWER_BYTES, pageTooLarge } from './largest-size';
import { kibibytes } from '../units';

/** A page above this size, in bytes, is made in several turns of the event loop. */
export const LARGE_BYTES = kibibytes(256);
/** Bytes that are kept for the envelope, with two cursors. */
const ENVELOPE_BYTES = 16 * 1024;
/** How many bytes a character can take in the answer. */
const BYTES_PER_CHARACTER = 6;
/** Two tags of XML around a value, without its name. */
const BYTES_OF_TAGS = 60;
/** The greatest number of bytes that a UTF-16 unit takes in memory. */
const BYTES_PER_UNIT = 2;

/**
 * The number of pages whose rows may wait in memory until they are made. When it is exceeded, the network with most of
 * them gets 503.
 */
const MAX_WAITING = 32;

/** One page at a time: its objects take several times the memory of its JSON. */
export const making = new Semaphore(1, MAX_WAITING);

/** True if {@link makeItems} should make the page: in one turn it would delay all other requests too long. */
export function isLarge(page: Page<object>, isXml = false): boolean {
  if (page.largest <= LARGE_BYTES) return false;
  return BYTES_PER_CHARACTER * charactersIn(page.data) > LARGE_BYTES || (isXml && tagsIn(page.data) > LARGE_BYTES);
}

/** The greatest number of bytes that the texts of a page take in memory. */
export const weightOf = ({ data }: Page<object>): number => BYTES_PER_UNIT * charactersIn(data);

/** The number of characters of all texts in a value. */
export function charactersIn(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  let characters = 0;
  for (const part of Object.values(value)) characters += charactersIn(part);
  return characters;
}

/** The greatest number of bytes that the tags of a value take, with numbers, which are as long as tags. */
function tagsIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return BYTES_OF_TAGS;
  let bytes = BYTES_OF_TAGS;
  for (const name of Object.keys(value)) {
    bytes += BYTES_PER_CHARACTER * name.length + tagsIn((value as Record<string, unknown>)[name]);
  }
  return bytes;
}

/**
 * Makes as many items as fit, in several turns of the event loop.
 * @param wanted false when nobody waits for the page any more
 * @throws {ApiError} VALIDATION_ERROR when the items don't fit and the page can't be shortened
 */
export async function makeItems(
  page: Page<object>,
  wanted: () => boolean,
  toBytes: (item: object) => Buffer,
): Promise<{ page: Page<object>; items: Buffer[] }> {
  const items: Buffer[] = [];
  let room = MAX_ANSWER_BYTES - ENVELOPE_BYTES;
  const turns = new LoopTurns();
  for (const item of page.backwards ? [...page.data].reverse() : page.data) {
    if (turns.isOver) await turns.next();
    if (!wanted()) break;
    const bytes = toBytes(item);
    room -= bytes.length + 1;
    if (room < 0) return { page: shortened(page, items.length), items: inOrder(page, items) };
    items.push(bytes);
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
