import type { Changes, Direction } from './change';
import type { Schema } from './document';

/** Each bound, with what it says of a value, and whether a greater number allows more. */
const BOUNDS: [name: string, says: string, isUpper: boolean][] = [
  ['maximum', 'at most', true],
  ['exclusiveMaximum', 'less than', true],
  ['maxLength', 'characters at most:', true],
  ['maxItems', 'items at most:', true],
  ['maxProperties', 'attributes at most:', true],
  ['minimum', 'at least', false],
  ['exclusiveMinimum', 'more than', false],
  ['minLength', 'characters at least:', false],
  ['minItems', 'items at least:', false],
  ['minProperties', 'attributes at least:', false],
];

/**
 * Compares the bounds of a value. A narrower input is breaking. An output may have other bounds, because it shows what
 * callers may send: each wider input makes an output wider.
 */
export function compareBounds(before: Schema, after: Schema, at: string, direction: Direction, to: Changes): void {
  const isInput = direction === 'input';
  for (const [name, says, isUpper] of BOUNDS) {
    const [old, now] = [before[name], after[name]] as (number | undefined)[];
    if (old === now) continue;
    const isNarrower = now !== undefined && (old === undefined || (isUpper ? now < old : now > old));
    to.add(isInput && isNarrower, `${at}: ${now === undefined ? `no longer ${says} ${old}` : told(says, now, old)}`);
  }
  compareSteps(before.multipleOf as number | undefined, after.multipleOf as number | undefined, at, isInput, to);
  if (before.uniqueItems !== after.uniqueItems) {
    const mustDiffer = after.uniqueItems === true;
    to.add(isInput && mustDiffer, `${at}: items ${mustDiffer ? 'must differ now' : 'may be equal now'}`);
  }
}

const told = (says: string, now: number, old: number | undefined): string =>
  `${says} ${now}${old === undefined ? ', without this bound before' : `, not ${old}`}`;

function compareSteps(
  old: number | undefined,
  now: number | undefined,
  at: string,
  isInput: boolean,
  to: Changes,
): void {
  if (old === now) return;
  // A multiple of 0.1 is also one of 0.01.
  const isNarrower = now !== undefined && (old === undefined || !Number.isInteger(Math.round((old / now) * 1e9) / 1e9));
  to.add(isInput && isNarrower, `${at}: ${now === undefined ? 'any fraction' : `a multiple of ${now}`} now`);
}
