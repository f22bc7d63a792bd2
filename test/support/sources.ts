import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import ts from 'typescript';

/** A path below src/ as the sources have it, and any other as it is. */
const fromSource = (path: string) => path.replace(/^src\//, '');

interface Source {
  /** Below src/ or test/, with a slash between its folders, e.g. `resources/users/user.dto.ts`. */
  path: string;
  text: string;
  /** The files of src/ that it imports, without their extension. */
  imports: string[];
  /** The packages that it imports. */
  packages: string[];
}

/** The files of src/, those of test/, and those of the client, which are in one folder. */
export const sources = sourcesOf('src');
export const testSources = sourcesOf('test');
export const clientSources = sourcesOf('client/src').filter(({ path }) => !path.startsWith('generated/'));

function sourcesOf(folder: string): Source[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => name.replaceAll('\\', '/'));
  return names
    .filter((path) => path.endsWith('.ts'))
    .map((path) => {
      const text = readFileSync(join(folder, path), 'utf8');
      const imported = ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => fileName);
      const own = imported.filter((name) => name.startsWith('.'));
      const packages = imported.filter((name) => !name.startsWith('.'));
      const imports = own.map((name) => fromSource(posix.join(folder, posix.dirname(path), name)));
      return { path, text, imports, packages };
    });
}

export const folderOf = (path: string) => path.split('/')[0];

/** `<path>: <lines>` of each file with more lines in these folders; migrations are as long as they have to be. */
export function longFiles(folders: string[], most: number): string[] {
  return folders
    .flatMap((folder) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)))
    .filter((path) => /\.[cm]?[jt]s$/.test(path) && !path.includes(join('src', 'migrations')))
    .map((path) => ({ path, lines: readFileSync(path, 'utf8').split('\n').length - 1 }))
    .filter(({ lines }) => lines > most)
    .map(({ path, lines }) => `${path}: ${lines}`);
}

/** Whether the type `any` stands somewhere. */
export const hasAny = ({ path, text }: Pick<Source, 'path' | 'text'>): boolean =>
  isAny(ts.createSourceFile(path, text, ts.ScriptTarget.Latest));

function isAny(node: ts.Node): boolean {
  return (
    node.kind === ts.SyntaxKind.AnyKeyword || (ts.forEachChild(node, (child) => isAny(child) || undefined) ?? false)
  );
}
