import type { MigrationInterface, QueryRunner } from 'typeorm';
import { catalogOf } from './catalog';
import { findingsBetween } from './changes';
import type { Finding } from './rules';
import { type Circumstances, findingsOf } from './statements';

/** Enough to recognise a statement. */
const SHOWN = 100;

/** Runs a migration as the start runs it, and returns what it does against the rules. */
export async function observe(database: QueryRunner, migration: MigrationInterface): Promise<Finding[]> {
  const transaction = migration.transaction ?? true;
  const circumstances = { before: await catalogOf(database), transaction, altered: new Set<string>() };
  const findings: Finding[] = [];
  if (transaction) await database.startTransaction();
  const failure = await runObserved(database, migration, circumstances, findings);
  if (failure) {
    if (transaction) await database.rollbackTransaction();
    return [...findings, failure];
  }
  if (transaction) await database.commitTransaction();
  const renamed = new Set(findings.filter(({ rule }) => rule === 'rename').map(({ object }) => object));
  return [...findings, ...findingsBetween(circumstances.before, await catalogOf(database), renamed)];
}

async function runObserved(
  database: QueryRunner,
  migration: MigrationInterface,
  circumstances: Circumstances,
  findings: Finding[],
): Promise<Finding | undefined> {
  const query = database.query.bind(database);
  database.query = (text: string, ...rest: []) => {
    const statement = text.replaceAll(/\s+/g, ' ').trim().slice(0, SHOWN);
    findings.push(...findingsOf(text, circumstances).map((finding) => ({ ...finding, statement })));
    return query(text, ...rest) as never;
  };
  try {
    await migration.up(database);
    return undefined;
  } catch (error) {
    return { rule: 'run', object: migration.constructor.name, detail: (error as Error).message };
  } finally {
    database.query = query;
  }
}
