import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import ts from 'typescript';

/** A file of src/ with a slash between its folders, e.g. `resources/users/user.dto.ts`. */
interface Source {
  path: string;
  text: string;
  /** The files of src/ that it imports, without their extension. */
  imports: string[];
}

export const sources: Source[] = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .map((name) => name.replaceAll('\\', '/'))
  .filter((path) => path.endsWith('.ts'))
  .map((path) => {
    const text = readFileSync(join('src', path), 'utf8');
    const names = ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => fileName);
    const own = names.filter((name) => name.startsWith('.'));
    return { path, text, imports: own.map((name) => posix.join(posix.dirname(path), name)) };
  });

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
