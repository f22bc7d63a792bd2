import { DataSource, type MigrationInterface } from 'typeorm';
import { dataSourceOptions, environmentSettings } from '../../src/platform/programs';
import { observe } from './observe';
import { type Finding, RULES } from './rules';
import {
  type Excuse,
  excusesIn,
  MIN_REASON,
  misspeltExcusesIn,
  namesConcurrently,
  type Source,
  timeIn,
} from './sources';
import { loadParser } from './statements';

type MigrationClass = new () => MigrationInterface;

/**
 * Runs all migrations of the service on an empty database: first the released ones, then each new one, which may do nothing
 * that instances of the last release can't bear.
 * @returns what is wrong, in words; empty if nothing is
 */
export async function checkMigrations(
  url: string,
  sources: Map<string, Source>,
  released: Set<string>,
): Promise<string[]> {
  const all = await migrationsOf(url, [...sources.keys()]);
  const isReleased = ({ constructor: { name } }: MigrationInterface) => released.has(name);
  await runAll(url, all.filter(isReleased));
  return problemsOfAll(
    url,
    all.filter((one) => !isReleased(one)),
    sources,
  );
}

/** The migrations of the service with these names, in the order of their timestamps. */
async function migrationsOf(url: string, names: string[]): Promise<MigrationInterface[]> {
  const database = await connected(url);
  const { migrations } = database;
  await database.destroy();
  return migrations
    .filter(({ constructor: { name } }) => names.includes(name))
    .sort((one, other) => timeIn(one.constructor.name) - timeIn(other.constructor.name));
}

async function connected(url: string, migrations?: MigrationClass[]): Promise<DataSource> {
  const options = { ...dataSourceOptions(environmentSettings(), url), extra: undefined };
  return new DataSource({ ...options, ...(migrations ? { migrations } : {}) }).initialize();
}

async function runAll(url: string, migrations: MigrationInterface[]): Promise<void> {
  const database = await connected(
    url,
    migrations.map(({ constructor }) => constructor as MigrationClass),
  );
  await database.runMigrations().finally(() => database.destroy());
}

/** What migrations do against the rules, in words. Ends at one that fails: the next ones may need what it makes. */
export async function problemsOfAll(
  url: string,
  migrations: MigrationInterface[],
  sources: Map<string, Source>,
): Promise<string[]> {
  await loadParser();
  const database = await connected(url, []);
  const runner = database.createQueryRunner();
  const problems: string[] = [];
  try {
    for (const migration of migrations) {
      const findings = await observe(runner, migration);
      problems.push(...problemsOf(findings, sources.get(migration.constructor.name)!));
      if (findings.some(({ rule }) => rule === 'run')) break;
    }
  } finally {
    await runner.release();
    await database.destroy();
  }
  return problems;
}

function problemsOf(findings: Finding[], source: Source): string[] {
  const excuses = excusesIn(source);
  const all = namesConcurrently(source) ? [...findings, CONCURRENTLY] : findings;
  const isExcused = (finding: Finding) => excuses.some((excuse) => fits(excuse, finding) && isReason(excuse));
  const unused = excuses.filter((excuse) => !all.some((finding) => fits(excuse, finding)));
  return [
    ...all
      .filter((finding) => !isExcused(finding))
      .map((finding) => [worded(finding, source), ...shortReasons(finding, excuses)].join('\n')),
    ...misspeltExcusesIn(source).map(
      (comment) =>
        `${source.path}\n  ${comment}\n  excuses nothing: write // safe-migration: <rule> <object>: <why nobody notices>`,
    ),
    ...unused.map(
      ({ rule, object }) =>
        `${source.path}\n  says why for ${rule} ${object}, which it doesn't do: remove the comment.`,
    ),
  ];
}

const CONCURRENTLY: Finding = {
  rule: 'index',
  object: 'CONCURRENTLY',
  detail: 'an attempt that fails leaves an index that nothing uses and nothing replaces',
};

const fits = (excuse: Excuse, { rule, object }: Finding) => excuse.rule === rule && excuse.object === object;

/** What is said of a comment that names the finding and hardly says why. */
const shortReasons = (finding: Finding, excuses: Excuse[]): string[] =>
  excuses
    .filter((excuse) => fits(excuse, finding))
    .map(
      ({ rule, object, reason }) =>
        `  The comment "safe-migration: ${rule} ${object}" is there, but its reason is too short: ` +
        `${reason.length} characters of at least ${MIN_REASON}.`,
    );

const isReason = ({ reason }: Excuse) => reason.length >= MIN_REASON;

function worded({ rule, object, statement, detail }: Finding, { path }: Source): string {
  const { why, instead } = RULES[rule];
  const lines = [
    path,
    `  ${rule} ${object}: ${detail ?? why}.`,
    ...(statement ? [`    ${statement}`] : []),
    `  Instead: ${instead}.`,
    ...(rule === 'run' ? [] : [`  If it must be: // safe-migration: ${rule} ${object}: <why nobody notices>`]),
  ];
  return lines.join('\n');
}
