/** A position in the feed, and when the reader was there. */
export interface Mark {
  position: number;
  /** Milliseconds since 1970. */
  at: number;
}

/** The greatest length of a mark. */
export const MAX_MARK = 32;
const MARK = /^([0-9a-z]{1,11})-([0-9a-z]{1,9})$/;
const RADIX = 36;

/** A mark as callers get it. Nothing in it is secret, and each read checks what its caller may see. */
export const markText = ({ position, at }: Mark): string => `${position.toString(RADIX)}-${at.toString(RADIX)}`;

/** Undefined for a text that is no mark. */
export function parseMark(text: string): Mark | undefined {
  const [, position, at] = MARK.exec(text) ?? [];
  if (position === undefined) return undefined;
  const mark = { position: parseInt(position, RADIX), at: parseInt(at, RADIX) };
  return Number.isSafeInteger(mark.position) && markText(mark) === text ? mark : undefined;
}
