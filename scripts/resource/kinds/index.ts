import type { Kind } from './kind';
import { NUMBERS } from './numbers';
import { STRUCTURES } from './structures';
import { TEXTS } from './texts';
import { VALUES } from './values';

export type { Attribute, Json, Kind } from './kind';

/** The kinds that the command names as they are called here. */
export const NAMED: Record<string, Kind> = {
  ...TEXTS,
  ...NUMBERS,
  boolean: VALUES.boolean,
  date: VALUES.date,
  moment: VALUES.moment,
  json: STRUCTURES.json,
};

/** All kinds. What it takes to add one: an entry, with a decorator and values of the tests. */
export const KINDS: Record<string, Kind> = { ...TEXTS, ...NUMBERS, ...VALUES, ...STRUCTURES };
