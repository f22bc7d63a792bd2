import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import ts from 'typescript';
import { folderOf, hasAny, longFiles, sources, testSources } from '../support/sources';

/** Lines of a file of src/, and of a file of what is beside it. */
const MAX_LINES = 200;
const MAX_LINES_BESIDE = 300;
/** The names of the platform that every resource may use, those that some need as well, and those for tests. */
const FACE = 'platform';
const [FEATURES, ACCOUNTS, PROGRAMS] = ['platform/features', 'platform/accounts', 'platform/programs'];
const FACES = [FACE, FEATURES, ACCOUNTS, PROGRAMS];
const TESTING = 'platform/testing';
/** The resources that have more than rows: sign-in, and limits of their own. */
const UNUSUAL = ['users', 'tokens', 'keys', 'public', 'webhooks'];

/** Between resources only child to parent. */
const parents: Record<string, string[]> = {
  tokens: ['users'],
  posts: ['users'],
  comments: ['posts', 'users'],
  replies: ['comments', 'posts', 'users'],
  orders: ['products', 'users'],
  changes: ['audit-events'],
};

const resourceOf = (path: string) => path.split('/')[1];

describe('The source code', () => {
  it('has no cycle among the files and folders of any folder, imports of types included', () => {
    const folders = new Set(sources.flatMap(({ path }) => foldersOf(path)));
    const cycles = [...folders].flatMap((folder) => cyclesIn(folder));

    expect(folders.size).toBeGreaterThan(30);
    expect(cycles).toEqual([]);
  });

  it('imports nothing into the platform', () => {
    expect(importsOf(isPlatform, (target) => !isPlatform(target))).toEqual([]);
  });

  it('imports of the platform only its faces', () => {
    const isInside = (target: string) => isPlatform(target) && !FACES.includes(target);

    expect(importsOf((path) => !isPlatform(path), isInside)).toEqual([]);
  });

  it('needs one face for a resource of rows, and that for programs in programs alone', () => {
    const isOfRows = (path: string) => folderOf(path) === 'resources' && !UNUSUAL.includes(resourceOf(path));
    const isProgram = (path: string) => !path.includes('/') || ['demo', 'seed'].includes(folderOf(path));

    expect(importsOf(isOfRows, (target) => isPlatform(target) && target !== FACE)).toEqual([]);
    expect(
      importsOf(
        (path) => !isProgram(path),
        (target) => target === PROGRAMS,
      ),
    ).toEqual([]);
  });

  it.each([
    [FACE, 50],
    [FEATURES, 20],
    [ACCOUNTS, 10],
    [PROGRAMS, 5],
    [TESTING, 20],
  ])('exports nothing by the face %s that nobody outside the platform uses', (face, least) => {
    const users = [...sources.filter(({ path }) => !isPlatform(path)), ...testSources].map(({ text }) => text);
    const text = [...users, ...['ormconfig.ts', ...documents()].map((path) => readFileSync(path, 'utf8'))].join('\n');
    const names = namesOf(face);

    expect(names.length).toBeGreaterThan(least);
    expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(text))).toEqual([]);
  });

  it.each([...FACES, TESTING])(
    'has a sentence for each group of names of the face %s, and for the names in it',
    (face) => {
      const [, ...groups] = textOf(face).split('\n\n');
      // A sentence may be for several files.
      const ofGroup = /^\/\/ [A-Z][\w ,]+: .+\.\n(?:\/\*\* .+ \*\/\n(?:export .+;\n?)+)+$/;

      expect(groups.length).toBeGreaterThan(0);
      expect(groups.filter((group) => !ofGroup.test(group))).toEqual([]);
    },
  );

  it('has support for tests that only tests use, and that no build contains', () => {
    const { config } = ts.readConfigFile('tsconfig.build.json', (path) => ts.sys.readFile(path)) as { config: object };
    const { fileNames } = ts.parseJsonConfigFileContent(config, ts.sys, '.');
    const built = fileNames.map((path) => relative('src', path).replaceAll('\\', '/'));

    expect(sources.some(({ path }) => isTesting(path))).toBe(true);
    expect(importsOf((path) => !isTesting(path), isTesting)).toEqual([]);
    expect(built).toContain('main.ts');
    expect(built.filter(isTesting)).toEqual([]);
  });

  it('is used by tests through the face of the test support, and by tests of resources through the faces alone', () => {
    const skipping = (target: string) => isTesting(target) && target !== TESTING;
    const deep = (target: string) => isPlatform(target) && ![...FACES, TESTING].includes(target);

    expect(importsOf(() => true, skipping, testSources)).toEqual([]);
    expect(importsOf(isTestOfResources, deep, testSources)).toEqual([]);
  });

  it('imports between resources from child to parent', () => {
    const offences = sources
      .filter(({ path }) => folderOf(path) === 'resources')
      .flatMap(({ path, imports }) => {
        const allowed = [resourceOf(path), ...(parents[resourceOf(path)] ?? [])];
        return imports
          .filter((target) => folderOf(target) === 'resources' && !allowed.includes(resourceOf(target)))
          .map((target) => `${path} -> ${target}`);
      });

    expect(offences).toEqual([]);
  });

  it('reads the environment of the service in one place, and that of a test run in one', () => {
    const places = /^platform\/(?:config\/|testing\/test-run\.ts$)/;

    expect(offenders(/process\.env/).filter((path) => !places.test(path))).toEqual([]);
  });

  it('exports by name', () => {
    expect(offenders(/^export default\b/m)).toEqual([]);
  });

  it('is checked by the compiler everywhere', () => {
    const unchecked = sources.filter(hasAny);

    expect(unchecked.map(({ path }) => path)).toEqual([]);
    expect(offenders(/@ts-(ignore|expect-error|nocheck)/)).toEqual([]);
  });

  it('consists of files that fit into a head', () => {
    expect(longFiles(['src'], MAX_LINES)).toEqual([]);
    expect(longFiles(['test', 'bench', 'scripts'], MAX_LINES_BESIDE)).toEqual([]);
  });

  const offenders = (pattern: RegExp) => sources.filter(({ text }) => pattern.test(text)).map(({ path }) => path);
});

type Kind = (path: string) => boolean;

const isPlatform: Kind = (path) => folderOf(path) === 'platform';
const isTesting: Kind = (path) => path === TESTING || path.startsWith(`${TESTING}/`);
const isTestOfResources: Kind = (path) => /(?:^|\/)resources\//.test(path);

/** `<file> -> <file>` for each import from the one kind of file to the other. */
function importsOf(isFrom: Kind, isTo: Kind, files = sources): string[] {
  return files
    .filter(({ path }) => isFrom(path))
    .flatMap(({ path, imports }) => imports.filter(isTo).map((target) => `${path} -> ${target}`));
}

/** All folders that a file lies in, src/ being the empty name. */
function foldersOf(path: string): string[] {
  const parts = path.split('/').slice(0, -1);
  return ['', ...parts.map((_, index) => `${parts.slice(0, index + 1).join('/')}/`)];
}

/** The files and folders of a folder that import each other in a circle. */
function cyclesIn(folder: string): string[] {
  const arrows = new Map<string, Set<string>>();
  for (const { path, imports } of sources) {
    for (const target of imports) {
      if (!path.startsWith(folder) || !target.startsWith(folder)) continue;
      const [from, to] = [path, target].map((name) => name.slice(folder.length).split('/')[0].replace(/\.ts$/, ''));
      if (from !== to) arrows.set(from, (arrows.get(from) ?? new Set()).add(to));
    }
  }
  return [...arrows.keys()].filter((name) => reaches(arrows, name).has(name)).map((name) => `${folder}${name}`);
}

function reaches(arrows: Map<string, Set<string>>, from: string, found = new Set<string>()): Set<string> {
  for (const to of arrows.get(from) ?? []) {
    if (found.has(to)) continue;
    found.add(to);
    reaches(arrows, to, found);
  }
  return found;
}

const documents = () => readdirSync('docs').flatMap((name) => (name.endsWith('.md') ? [join('docs', name)] : []));

function namesOf(face: string): string[] {
  const exported = textOf(face).matchAll(/^export \{([^}]*)\}/gms);
  return [...exported].flatMap(([, names]) =>
    names.split(',').flatMap((name) => name.trim().replace('type ', '') || []),
  );
}

const textOf = (face: string): string =>
  readFileSync(sources.some(({ path }) => path === `${face}.ts`) ? `src/${face}.ts` : `src/${face}/index.ts`, 'utf8');
