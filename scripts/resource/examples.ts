import { existsSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { Refusal } from './plan';
import { RESOURCES } from './project';
import { type Files, importsOf, programsIn, withoutImports } from './source-files';
import { MIGRATIONS } from './files';

/** The resources that `remove --examples` takes out of the service. Everything else is found from here. */
export const EXAMPLES = ['products', 'orders', 'posts', 'comments', 'replies'];
/** Where the tests keep them then. */
export const EXAMPLES_OF_TESTS = 'test/support/examples';
/** The files that name each resource on a line of its own. */
const [MODULES, DEMO, SEEDS] = ['src/app.module.ts', 'src/demo/demo-data.ts', 'src/seed/seeds.ts'];
/** The folders with rows of each resource. */
const ROWS = /^src\/(?:demo|seed)\//;

/** The files of the examples, and what the rest of the service says of them. */
export interface Examples {
  /** By their paths, those that they get. */
  moved: Map<string, string>;
  /** The texts without them of the files that stay. */
  changed: Files;
  /** Their names in these files, in order. */
  modules: string[];
  demo: string[];
  seeds: string[];
  /** By these names, the files that export them, after the move. */
  exported: Map<string, string>;
  migrations: Migrations;
}

export interface Migrations {
  /** The names of their classes. */
  classes: string[];
  /** What they make. */
  tables: string[];
  functions: string[];
}

/** @throws {Refusal} */
export function findExamples(): Examples {
  if (existsSync(EXAMPLES_OF_TESTS)) throw new Refusal([`${EXAMPLES_OF_TESTS}: exists already`]);
  const missing = EXAMPLES.filter((noun) => !existsSync(`${RESOURCES}/${noun}`));
  if (missing.length > 0)
    throw new Refusal(missing.map((noun) => `${RESOURCES}/${noun}: is missing; the tests need all examples`));
  const files = programsIn('src');
  const resources = [...files.keys()].filter((path) =>
    EXAMPLES.some((noun) => path.startsWith(`${RESOURCES}/${noun}/`)),
  );
  const staying = [...files.keys()].filter((path) => !resources.includes(path));
  const { paths, ...migrations } = migrationsOf(files, tablesOf(resources, files), tablesOf(staying, files));
  const moved = withRows(new Set([...resources, ...paths]), files);
  const shortened = new Map(
    [MODULES, DEMO, SEEDS].map((path) => [path, withoutImports(path, files.get(path)!, (file) => moved.has(file))]),
  );
  const users = [...files].filter(
    ([path, text]) => !moved.has(path) && !shortened.has(path) && importsOf(path, text).some((file) => moved.has(file)),
  );
  const left = [...shortened].flatMap(([path, one]) => one.left.map((name) => `${path}: uses ${name} in another way`));
  const problems = [...users.map(([path]) => `${path}: uses an example; remove that first`), ...left];
  if (problems.length > 0) throw new Refusal(problems);
  const places = new Map([...moved].sort().map((path) => [path, path.replace(/^src/, EXAMPLES_OF_TESTS)]));
  const names = [...shortened.values()].flatMap((one) => one.names);
  return {
    moved: places,
    changed: new Map([...shortened].map(([path, { text }]) => [path, text])),
    modules: shortened.get(MODULES)!.names,
    demo: shortened.get(DEMO)!.names,
    seeds: shortened.get(SEEDS)!.names,
    exported: new Map(names.map((name) => [name, places.get(exporterOf(name, moved, files))!])),
    migrations,
  };
}

function exporterOf(name: string, paths: Set<string>, files: Files): string {
  return [...paths].find((path) =>
    new RegExp(`^export (?:const|class|(?:async )?function) ${name}\\b`, 'm').test(files.get(path)!),
  )!;
}

/** Also the rows of demo data and seeds: what imports an example, and what nothing else imports. */
function withRows(moved: Set<string>, files: Files): Set<string> {
  const importers = new Map<string, string[]>();
  const imported = new Map([...files].map(([path, text]) => [path, importsOf(path, text)]));
  for (const [path, targets] of imported) {
    for (const target of targets) importers.set(target, [...(importers.get(target) ?? []), path]);
  }
  const rows = [...files.keys()].filter((path) => ROWS.test(path) && ![DEMO, SEEDS].includes(path));
  const belongs = (path: string) => {
    const users = importers.get(path) ?? [];
    return (
      imported.get(path)!.some((target) => moved.has(target)) ||
      (users.length > 0 && users.every((one) => moved.has(one)))
    );
  };
  for (let more: string[]; (more = rows.filter((path) => !moved.has(path) && belongs(path))).length > 0;) {
    for (const path of more) moved.add(path);
  }
  return moved;
}

function tablesOf(paths: string[], files: Files): string[] {
  return paths.flatMap((path) => [...files.get(path)!.matchAll(/@Entity\('(\w+)'/g)].map(([, table]) => table));
}

/**
 * The migrations that make and change these tables.
 * @param kept tables of entities that stay
 * @throws {Refusal} if one changes others too
 */
function migrationsOf(files: Files, tables: string[], kept: string[]): Migrations & { paths: string[] } {
  const all = [...files].filter(([path]) => posix.dirname(path) === MIGRATIONS).map(([path, text]) => ({ path, text }));
  let known = tables;
  let found = all;
  do {
    tables = known;
    found = all.filter(({ text }) => mentions(text, tables));
    known = [...new Set([...tables, ...found.flatMap(({ text }) => madeBy(text, 'TABLE'))])];
  } while (known.length > tables.length);
  const others = [...files].flatMap(([path, text]) =>
    path.includes('/migrations/') && !found.some((one) => one.path === path) ? madeBy(text, 'TABLE') : [],
  );
  const mixed = found.filter(
    ({ text }) => mentions(text, others) || madeBy(text, 'TABLE').some((one) => kept.includes(one)),
  );
  if (mixed.length > 0)
    throw new Refusal(
      mixed.map(
        ({ path }) =>
          `${path}: names an example, and makes or changes the table of another resource: remove that or split it first`,
      ),
    );
  return {
    paths: found.map(({ path }) => path),
    classes: found.flatMap(({ text }) => /export class (\w+)/.exec(text)?.[1] ?? []),
    tables: known,
    functions: found
      .flatMap(({ text }) => madeBy(text, 'FUNCTION'))
      .filter((name, index, list) => list.indexOf(name) === index),
  };
}

const madeBy = (text: string, kind: string): string[] =>
  [...text.matchAll(new RegExp(`CREATE (?:OR REPLACE )?${kind} (?:IF NOT EXISTS )?(\\w+)`, 'g'))].map(
    ([, name]) => name,
  );

/** Whether a migration names one of the tables, or an index of it. Its comments and its foreign keys don't count. */
function mentions(text: string, tables: string[]): boolean {
  const code = text.replaceAll(/\/\*[^]*?\*\/|\/\/[^\n]*|\bREFERENCES \w+|\breference\([^)]*\)/g, '');
  return new RegExp(`\\b(?:${tables.join('|')})(?:_\\w+)?\\b`).test(code);
}

/** The settings that only examples read. */
export function settingsOf(paths: Iterable<string>): string[] {
  return [...paths].flatMap((path) =>
    [...readFileSync(path, 'utf8').matchAll(/@\w*Setting\([^]*?\)\s+([A-Z][A-Z0-9_]+)\b/g)].map(([, name]) => name),
  );
}
