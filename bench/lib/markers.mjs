// Parts of a request that differ each time it is sent: the list of requests is sent again and again. load.lua and
// open-loop.mjs know the same markers.

/** The last digits of a number that no other request of any run has. */
export const uniqueMarker = (digits) => `<<unique ${digits}>>`;
/** All of them. */
export const UNIQUE = uniqueMarker(16);

const MARKER = /<<(\w+) ?(\d*) ?(\d*)>>/g;
const NUMBERS_PER_MILLISECOND = 1_000;

/**
 * The version of a row that each turn of the list changes.
 * @param first its version in the first turn
 * @param step how often a turn changes the row
 */
export function versionMarker(first, step) {
  return `<<version ${first} ${step}>>`;
}

/** Where the unique numbers of a load begin: runs that follow each other don't share one. */
export function firstNumber() {
  return Date.now() * NUMBERS_PER_MILLISECOND;
}

/** Fills the markers in. `turn` counts from 0. */
export class Filler {
  constructor(number = firstNumber()) {
    this.number = number;
  }

  fill(text, turn = 0) {
    if (!text.includes('<<')) return text;
    return text.replace(MARKER, (_, kind, first, step) =>
      kind === 'version' ? String(Number(first) + turn * Number(step)) : String(++this.number).slice(-Number(first)),
    );
  }
}
