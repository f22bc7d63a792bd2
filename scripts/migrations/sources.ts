import { appendFileSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import type { Finding } from './rules';

const FOLDERS = ['src/migrations', 'src/platform/database/migrations'];
/** The names of the migrations that have been released, a line each. */
const RELEASED = 'docs/releases/migrations.txt';

export interface Source {
  path: string;
  text: string;
}

/** The files of the migrations, by the names of their classes. */
export function migrationSources(folders = FOLDERS): Map<string, Source> {
  const paths = folders.flatMap((folder) => readdirSync(folder).map((name) => `${folder}/${name}`));
  const texts = paths
    .filter((path) => path.endsWith('.ts'))
    .map((path) => ({ path, text: readFileSync(path, 'utf8') }));
  return new Map(
    texts.flatMap((source) =>
      [...source.text.matchAll(/^export class (\w+)/gm)].map(([, name]): [string, Source] => [name, source]),
    ),
  );
}

/** Those that no rule applies to: they ran before there were two releases, or were judged when they were new. */
export function releasedMigrations(): Set<string> {
  const lines = existsSync(RELEASED) ? readFileSync(RELEASED, 'utf8').split('\n') : [];
  return new Set(lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#')));
}

/** Takes all migrations into the list of the released ones, and returns the new names. */
export function release(): string[] {
  const released = releasedMigrations();
  const names = [...migrationSources().keys()].filter((name) => !released.has(name)).sort(byTime);
  appendFileSync(RELEASED, names.map((name) => `${name}\n`).join(''));
  return names;
}

const byTime = (one: string, other: string): number => timeIn(one) - timeIn(other);

/** The timestamp at the end of a migration's name. */
export const timeIn = (name: string): number => Number(/\d+$/.exec(name)?.[0]);

/** A comment by which a migration says why it may break a rule: `// safe-migration: drop posts.summary: unread since 1.2`. */
export interface Excuse extends Pick<Finding, 'rule' | 'object'> {
  reason: string;
}

const EXCUSE = /^\s*\/\/ safe-migration: ([a-z-]+) (\S+?): *(.*)$/gm;
/** Shorter ones say nothing. */
export const MIN_REASON = 15;

export function excusesIn({ text }: Source): Excuse[] {
  return [...text.matchAll(EXCUSE)].map(([, rule, object, reason]) => ({
    rule: rule as Finding['rule'],
    object,
    reason,
  }));
}

const NO_EXCUSE = /^(?!\s*\/\/ safe-migration: [a-z-]+ \S+?:).*\/[/*]+\s*safe-migration\b.*$/gm;

/** Comments that look like excuses, and that {@link excusesIn} doesn't understand. */
export const misspeltExcusesIn = ({ text }: Source): string[] =>
  [...text.matchAll(NO_EXCUSE)].map(([comment]) => comment.trim());

/** Whether a migration names the word itself, and not by `addIndex()`. */
export const namesConcurrently = ({ text }: Source): boolean =>
  /\bCONCURRENTLY\b/i.test(text.replaceAll(/\/\*[^]*?\*\/|\/\/[^\n]*/g, ''));
