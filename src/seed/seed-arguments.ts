import { parseArgs } from 'node:util';
import { type Counts, seededResources } from './rows/world';
import './seeds';

export interface SeedArguments {
  counts: Counts;
  seed: number;
  password?: string;
  force: boolean;
  help: boolean;
}

/** The message is for the user of the command. */
export class ArgumentsError extends Error {}

const MAX_COUNT = 10_000_000;
const MAX_SEED = 2 ** 32 - 1;
const PASSWORD_LENGTH = { min: 8, max: 128 };

export const help = (): string => `Fills the database with invented rows, beside those that there are.

  npm run seed -- [options]

${seededResources()
  .map(({ noun, usually }, index) => option(`--${noun} N`, index === 0 ? `how many; ${usually}` : usually))
  .join('\n')}
  --seed N          the same number makes the same rows, but for their dates; 1 unless given
  --password TEXT   of all the new users alike; without it they can't sign in
  --force           also with NODE_ENV=production
  --help

The database is the one of DATABASE_URL, or the embedded one under DATA_DIR.
`;

const option = (name: string, meaning: string) => `  ${name.padEnd(17)} ${meaning}`;

/** @throws {ArgumentsError} */
export function parseArguments(words: string[]): SeedArguments {
  const { password, force, help, seed, numbers } = parse(words);
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
  const counts = Object.fromEntries(seededResources().map(({ noun }) => [noun, text]));
  const own = { seed: text, password: text, force: flag, help: flag };
  try {
    const { values } = parseArgs({ args: words, options: { ...counts, ...own } });
    const { seed, password, force, help, ...numbers } = values;
    return { seed, password, force, help, numbers };
  } catch (error) {
    throw new ArgumentsError((error as Error).message);
  }
}

function countsOf(numbers: Record<string, string | undefined>): Counts {
  const counts: Counts = {};
  for (const { noun, count, needs } of seededResources()) {
    const given = numbers[noun];
    counts[noun] = given === undefined ? Math.ceil(count(counts)) : wholeNumber(noun, given, MAX_COUNT);
    const missing = needs?.find((needed) => counts[needed] === 0);
    if (counts[noun] > 0 && missing) throw new ArgumentsError(`--${noun} needs --${missing}, which is 0`);
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
