import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatted, nextTime } from './add';
import { editsOf } from './edits';
import { MIGRATIONS } from './files';
import { Refusal } from './plan';
import { type Existing, RESOURCES } from './project';
import { dropMigrationFile } from './templates/migration';
import { isAsWritten, isCommitted, uncommitted } from './uncommitted';

export interface Removal {
  /** Files and folders that go. */
  gone: string[];
  /** The new texts of other files. */
  changed: Map<string, string>;
  /** When the resource was added, in milliseconds. */
  added: number;
}

/**
 * What it takes to remove a resource that the command has added. A migration that a database or a commit has already stays,
 * and a new one drops its table.
 * @throws {Refusal}
 */
export async function removalOf(
  noun: string,
  resources: Existing[],
  isApplied: (name: string) => Promise<boolean>,
): Promise<Removal> {
  const resource = resources.find(({ names }) => names.noun === noun);
  const migration = readdirSync(MIGRATIONS)
    .sort()
    .findLast((name) => new RegExp(`^\\d+-add-${noun}\\.ts$`).test(name));
  if (!resource || !migration) throw new Refusal([`${noun}: was not made by this command`]);
  const users = usersOf(noun);
  if (users.length > 0) throw new Refusal(users.map((path) => `${path}: uses ${noun}; remove it first`));

  const { plural, many, table } = resource.names;
  const edits = editsOf({ noun, plural, many, parents: parentsOf(noun) });
  const changed = new Map(
    edits.filter(({ path }) => existsSync(path)).map(({ path, remove }) => [path, remove(readFileSync(path, 'utf8'))]),
  );
  const path = join(MIGRATIONS, migration);
  const gone = [`${RESOURCES}/${noun}`, `src/demo/${noun}.ts`, `test/support/resources/${noun}.ts`];
  const all = [...gone, `test/resources/${noun}.spec.ts`].filter((one) => existsSync(one));
  const text = readFileSync(path, 'utf8');
  if (isCommitted(path) || (await isApplied(/export class (\w+)/.exec(text)![1]))) {
    const time = nextTime();
    const file = `${MIGRATIONS}/${time}-drop-${noun}.ts`;
    changed.set(file, await formatted(file, dropMigrationFile(table, plural, time, text)));
  } else {
    all.push(path);
  }
  return { gone: all, changed, added: parseInt(migration, 10) };
}

/**
 * Refuses files that go with changes that are not committed. An `add` may be taken back before it is committed, if nobody has
 * changed its files since. Files that stay lose the lines of the resource alone.
 * @throws {Refusal}
 */
export function requireUntouched({ gone, added }: Removal): void {
  const lost = uncommitted(gone).filter((path) => isCommitted(path) || !isAsWritten(path, added));
  if (lost.length === 0) return;
  throw new Refusal(lost.map((path) => `${path}: has changes that are not committed; --force removes them too`));
}

export function remove({ gone, changed }: Removal): void {
  for (const path of gone) rmSync(path, { recursive: true });
  for (const [path, text] of changed) writeFileSync(path, text);
}

/** The source and test files that import from it, beside its own and those that the command edits. */
function usersOf(noun: string): string[] {
  const own = [`${RESOURCES}/${noun}/`, `src/demo/${noun}.ts`, `src/demo/demo-data.ts`, 'src/app.module.ts'];
  const ofTests = ['test/support/resources.ts', `test/support/resources/${noun}.ts`, `test/resources/${noun}.spec.ts`];
  const files = ['src', 'test'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name).replaceAll('\\', '/')),
  );
  const imports = new RegExp(` from '(?:\\.\\./(?:[^']*/)?|\\./)${noun}(?:/[^']*)?'`);
  return files.filter(
    (path) =>
      path.endsWith('.ts') &&
      ![...own, ...ofTests].some((one) => path.startsWith(one)) &&
      imports.test(readFileSync(path, 'utf8')),
  );
}

/** As its line in the test of the architecture names them. */
function parentsOf(noun: string): string[] {
  const path = 'test/conventions/architecture.spec.ts';
  if (!existsSync(path)) return [];
  const line = new RegExp(`^ {2}'?${noun}'?: \\[([^\\]]*)\\],$`, 'm').exec(readFileSync(path, 'utf8'));
  return line ? [...line[1].matchAll(/'([^']+)'/g)].map(([, name]) => name) : [];
}
