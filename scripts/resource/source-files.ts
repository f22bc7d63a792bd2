import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, posix } from 'node:path';

/** Files by path, with their texts. */
export type Files = Map<string, string>;

/** What stands before the specifier of an import, in quotes, and the specifier. */
const IMPORT = /(\b(?:from|import|require\(|import\(|mock\()\s*)(['"])(\.{1,2}\/[^'"\n]+)\2/g;
const PROGRAM = /\.(?:ts|mjs|cjs)$/;

/** The programs in these folders. */
export function programsIn(...folders: string[]): Files {
  const paths = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => posix.join(folder, slashed(name))),
  );
  return new Map(paths.filter((path) => PROGRAM.test(path)).map((path) => [path, readFileSync(path, 'utf8')]));
}

const slashed = (path: string) => path.replaceAll('\\', '/');

/** The files of the project that a file imports. */
export function importsOf(path: string, text: string): string[] {
  return [...text.matchAll(IMPORT)].flatMap(([, , , specifier]) => fileAt(path, specifier) ?? []);
}

/** The text of a file with imports that are right after a move, whether the file moves or what it imports. */
export function withMovedImports(path: string, text: string, moved: ReadonlyMap<string, string>): string {
  return text.replaceAll(IMPORT, (whole, before: string, quote: string, specifier: string) => {
    const file = fileAt(path, specifier);
    if (file === undefined || (!moved.has(path) && !moved.has(file))) return whole;
    const target = moved.get(file) ?? file;
    // As short as it was: without an ending, or without the name of an index.
    const rest = file.slice(posix.join(dirname(path), specifier).length);
    const short = target.slice(0, target.length - rest.length);
    const way = posix.relative(dirname(moved.get(path) ?? path), short);
    return `${before}${quote}${way.startsWith('.') ? way : `./${way}`}${quote}`;
  });
}

function fileAt(importer: string, specifier: string): string | undefined {
  const path = posix.join(dirname(importer), specifier);
  return ['', '.ts', '/index.ts'].map((end) => path + end).find((file) => PROGRAM.test(file) && existsSync(file));
}

interface Shortened {
  text: string;
  /** The names, in the order of their lines. */
  names: string[];
  /** Those that stand elsewhere too. */
  left: string[];
}

/**
 * The text of a file without the imports of files that go, and without the lines on which only an imported name stands: an
 * item of a list, or an awaited call.
 */
export function withoutImports(path: string, text: string, isGone: (file: string) => boolean): Shortened {
  const names: string[] = [];
  const rest = text.replaceAll(
    /^import \{([^}]*)\} from '([^']+)';\n/gm,
    (line, imported: string, specifier: string) => {
      const file = fileAt(path, specifier);
      if (file === undefined || !isGone(file)) return line;
      names.push(...imported.split(',').flatMap((name) => name.trim() || []));
      return '';
    },
  );
  if (names.length === 0) return { text, names, left: [] };
  const line = new RegExp(`^ +(?:await )?(${names.join('|')})(?:\\(\\w*\\))?[,;]\\n`, 'gm');
  const inOrder: string[] = [];
  const shorter = rest.replaceAll(line, (_line, name: string) => {
    inOrder.push(name);
    return '';
  });
  return { text: shorter, names: inOrder, left: names.filter((name) => new RegExp(`\\b${name}\\b`).test(shorter)) };
}
