import { parseArgs } from 'node:util';
import { type Counts, type Resource, RESOURCES } from './rows/world';

export interface SeedArguments {
  counts: Counts;
  seed: number;
  password?: string;
  force: boolean;
  help: boolean;
}

/** The message is for the user of the command. */
export class ArgumentsError extends Error {}

const USERS = 1_000;
/** The default number of rows, derived from the numbers of the resources before. */
const DERIVED: Record<Resource, (counts: Counts) => number> = {
  users: () => USERS,
  products: ({ users }) => users / 10,
  orders: ({ users, products }) => (products > 0 ? users / 2 : 0),
  posts: ({ users }) => 2 * users,
  comments: ({ posts }) => 2 * posts,
  replies: ({ comments }) => comments / 2,
};
const NEEDED: Partial<Record<Resource, Resource[]>> = {
  orders: ['users', 'products'],
  posts: ['users'],
  comments: ['posts'],
  replies: ['comments'],
};
const MAX_COUNT = 10_000_000;
const MAX_SEED = 2 ** 32 - 1;
const PASSWORD_LENGTH = { min: 8, max: 128 };

export const HELP = `Fills the database with invented rows, beside those that there are.

  npm run seed -- [options]

  --users N         how many; ${USERS} unless given, and the numbers below follow from it
  --products N      a tenth of the users unless given
  --orders N        half of the users
  --posts N         twice the users
  --comments N      twice the posts
  --replies N       half of the comments
  --seed N          the same number makes the same rows, but for their dates; 1 unless given
  --password TEXT   of all the new users alike; without it they can't sign in
  --force           also with NODE_ENV=production
  --help

The database is the one of DATABASE_URL, or the embedded one under DATA_DIR.
`;

/** @throws {ArgumentsError} */
export function parseArguments(words: string[]): SeedArguments {
  const { password, force, help, seed, ...numbers } = parse(words);
  return {
    counts: countsOf(numbers),
    seed: wholeNumber('seed', seed ?? '1', MAX_SEED),
    password: checked(password),
    force,
    help,
  };
}

function parse(words: string[]) {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  const counts = { users: text, products: text, orders: text, posts: text, comments: text, replies: text };
  try {
    return parseArgs({ args: words, options: { ...counts, seed: text, password: text, force: flag, help: flag } })
      .values;
  } catch (error) {
    throw new ArgumentsError((error as Error).message);
  }
}

function countsOf(numbers: Partial<Record<Resource, string>>): Counts {
  const counts = {} as Counts;
  for (const resource of RESOURCES) {
    const given = numbers[resource];
    counts[resource] =
      given === undefined ? Math.ceil(DERIVED[resource](counts)) : wholeNumber(resource, given, MAX_COUNT);
    const missing = NEEDED[resource]?.find((needed) => counts[needed] === 0);
    if (counts[resource] > 0 && missing) throw new ArgumentsError(`--${resource} needs --${missing}, which is 0`);
  }
  return counts;
}

function wholeNumber(name: string, text: string, max: number): number {
  if (/^\d{1,10}$/.test(text) && Number(text) <= max) return Number(text);
  throw new ArgumentsError(`--${name} must be a whole number from 0 to ${max}`);
}

function checked(password: string | undefined): string | undefined {
  const { min, max } = PASSWORD_LENGTH;
  const length = [...(password ?? '')].length;
  if (password !== undefined && (length < min || length > max || password.trim() === ''))
    throw new ArgumentsError(`--password must be ${min} to ${max} characters, and not blank`);
  // Normalised like in the API.
  return password?.normalize('NFC');
}
