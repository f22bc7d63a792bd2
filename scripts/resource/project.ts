import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { camel, type Names, namesOf, singularOf } from './names';
import { readersByTable } from './readers';

/** A resource of the project, as far as others refer to it. */
export interface Existing {
  names: Names;
  /** Who may read one: callers without a token, users, or administrators. */
  read: 'public' | 'user' | 'admin';
  /** Whether a GET of one answers 403 to users who don't own it. */
  isPrivate: boolean;
  /** Whether `get(id, caller)` of its service takes the caller. Undefined if other modules can't use its service. */
  getTakesCaller?: boolean;
  /** Whether its rows stay in the table when they are deleted. */
  isHidden: boolean;
  /** Attributes of its DTO, and rows that it includes. */
  shown: string[];
  /** How others include its rows: the name, and the file that exports it. Undefined if they can't. */
  included?: { name: string; file: string };
  /** Who reads a row, for the feed of changes: an expression over its columns. Undefined if its migrations don't say it. */
  readers?: string;
  /** The statuses of `GET /<noun>/:id` for each caller of the table of access. */
  readStatuses?: string[];
}

export const RESOURCES = 'src/resources';
const MATRIX = 'test/resources/access-matrix.spec.ts';

/** The column of a row that refers to it. */
export const idOf = ({ names }: Existing): string => `${names.file.replaceAll('-', '_')}_id`;

/** Whether a reference to it is compared with what the writer may read. */
export const isGuarded = ({ names, isPrivate, getTakesCaller }: Existing): boolean =>
  names.noun !== 'users' && (isPrivate || getTakesCaller === true);

const read = (path: string) => (existsSync(path) ? readFileSync(path, 'utf8') : '');

/** The resources with a table of their own. */
export function existingResources(roots: string[] = [RESOURCES]): Existing[] {
  const folders = roots.flatMap((root) => readdirSync(root).map((noun) => ({ root, noun })));
  folders.sort((one, other) => (one.noun < other.noun ? -1 : 1));
  const readers = readersByTable();
  return folders.flatMap(({ root, noun }) => existing(root, noun, readers) ?? []);
}

function existing(root: string, noun: string, readers: ReadonlyMap<string, string>): Existing | undefined {
  const folder = `${root}/${noun}`;
  const singular = fileOfEntity(folder) ?? singularOf(noun);
  const entity = read(`${folder}/${singular}.entity.ts`);
  if (!singular || !entity) return undefined;
  const names = namesOf(noun, singular);
  const route = /@Get\(':id'\)(.*?)\n {2}(?:async )?\w+\(/s.exec(read(`${folder}/${noun}.controller.ts`))?.[1] ?? '';
  const service = read(`${folder}/${noun}.service.ts`);
  const isExported = new RegExp(`exports: \\[.*\\b${names.plural}Service\\b`).test(read(`${folder}/${noun}.module.ts`));
  const get = /^ {2}(?:async )?get\(id: number(.*?)\)/m.exec(service);
  return {
    names,
    read: route.includes('@Public()') ? 'public' : route.includes('Role.USER') ? 'user' : 'admin',
    isPrivate: route.includes('notTheOwner()'),
    getTakesCaller: isExported && get ? get[1].includes('caller') : undefined,
    isHidden: /@DeleteDateColumn|deleted_at/.test(entity),
    shown: [
      ...read(`${folder}/${singular}.dto.ts`).matchAll(/^ {2}(\w+)\??: |(\w+): (?:\(\) => )?included[A-Z]/gm),
    ].map(([, attribute, row]) => attribute ?? row),
    included: includedOf(folder, names),
    readers: readers.get(names.table),
    readStatuses: statusesOf(`GET /api/v1/${noun}/:id`, [MATRIX, `test/support/resources/${noun}.ts`]),
  };
}

function includedOf(folder: string, { entity, file }: Names): Existing['included'] {
  const name = `included${entity}`;
  const files = [`${file}.dto`, `included-${file}`];
  const place = files.find((one) => read(`${folder}/${one}.ts`).includes(`export const ${name} = `));
  return place === undefined ? undefined : { name, file: place };
}

function fileOfEntity(folder: string): string | undefined {
  const files = readdirSync(folder).filter((name) => name.endsWith('.entity.ts'));
  return files.length === 1 ? files[0].replace('.entity.ts', '') : undefined;
}

function statusesOf(route: string, files: string[]): string[] | undefined {
  const lines = files.flatMap((path) => read(path).split('\n'));
  const words = lines.map((line) => line.trim().split(/\s+/)).find(([method, path]) => `${method} ${path}` === route);
  return words?.slice(2);
}

/** How the tests insert a row of it, as an expression with an `id`. */
export function fixtureOf({ names }: Existing): { expression: string; imported?: string } {
  if (names.noun === 'users') return { expression: 'own.owner' };
  if (read('test/support/fixtures.ts').includes(`  ${names.one}(`)) return { expression: `own.${names.one}()` };
  if (read('test/support/fixtures.ts').includes(`  async ${names.one}(`)) return { expression: `own.${names.one}()` };
  return { expression: `${camel(names.file)}(own)`, imported: camel(names.file) };
}
