import { readdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { EXAMPLES } from './examples';
import type { Files } from './source-files';

const PAGES = ['README.md', 'SECURITY.md', 'test/README.md'];
/** Paragraphs of pages that go with the examples. */
const MARKED = /^<!-- examples -->\n[^]*?^<!-- \/examples -->\n\n?/gm;
const SHELL = /^```sh\n[^]*?^```$/gm;
const CALL = new RegExp(`\\$API/(?:${EXAMPLES.join('|')})\\b`);
/** The requests for editors' HTTP clients, and a call of an example in one. */
const REQUESTS = 'docs/requests.http';
const REQUEST = /^### [^]*?(?=^### |(?![^]))/gm;
const REQUESTED = new RegExp(`\\{\\{api\\}\\}/(?:${EXAMPLES.join('|')})\\b`);

/** The texts, without the examples, of the pages and lists that name their paths and settings. */
export function documentsWithout(moved: ReadonlyMap<string, string>, settings: string[]): Files {
  const pages = [...PAGES, ...readdirSync('docs').flatMap((name) => (name.endsWith('.md') ? [`docs/${name}`] : []))];
  const of = (name: string) => new RegExp(`\\b${name}\\b`);
  const isNamed = (line: string) => settings.some((name) => of(name).test(line));
  const edits: [path: string, edit: (text: string) => string][] = [
    ...pages.map((path): (typeof edits)[number] => [path, (text) => pageWithout(text, moved, isNamed)]),
    [REQUESTS, (text) => text.replaceAll(REQUEST, (request) => (REQUESTED.test(request) ? '' : request))],
    ['.env.example', (text) => withoutParagraphs(text, isNamed)],
    ['test/config/settings.spec.ts', (text) => withoutLines(text, (line) => /^ {6}\w+: /.test(line) && isNamed(line))],
  ];
  const changed = edits.map(([path, edit]) => [path, readFileSync(path, 'utf8'), edit] as const);
  return new Map(changed.flatMap(([path, text, edit]) => (edit(text) === text ? [] : [[path, edit(text)]])));
}

function pageWithout(page: string, moved: ReadonlyMap<string, string>, isNamed: (line: string) => boolean): string {
  const shown = page
    .replaceAll(MARKED, '')
    .replaceAll(SHELL, (block) => withoutParagraphs(block, (paragraph) => CALL.test(paragraph)));
  const rows = withoutLines(shown, (line) => line.startsWith('|') && (isNamed(line) || namesOnly(line, moved)));
  return rows.replaceAll(
    /(?<=`|\]\((?:\.\.\/)?)(?:src\/)?((?:resources|migrations|demo|seed)\/[\w./-]+)(?=`|\))/g,
    (path, short: string) => placeOf(`src/${short}`, moved) ?? path,
  );
}

/** Whether a row of a table is about moved files, and about no other of the service. */
function namesOnly(row: string, moved: ReadonlyMap<string, string>): boolean {
  const files = [...row.matchAll(/`(src\/[\w./-]+)`/g)].map(([, path]) => path);
  return files.length > 0 && files.every((path) => moved.has(path));
}

/** Where a file or a folder is after the move. */
function placeOf(path: string, moved: ReadonlyMap<string, string>): string | undefined {
  const folder = path.replace(/\/$/, '');
  const inside = [...moved].find(([from]) => dirname(from) === folder);
  // A folder some of whose files stay has not moved.
  const wholly = inside && /^src\/resources\/[\w-]+$/.test(folder);
  return moved.get(path) ?? (wholly ? dirname(inside[1]) + path.slice(folder.length) : undefined);
}

function withoutParagraphs(text: string, goes: (paragraph: string) => boolean): string {
  const end = /\n```$/.exec(text)?.[0] ?? '';
  const paragraphs = text.slice(0, text.length - end.length).split('\n\n');
  return paragraphs.filter((paragraph) => !goes(paragraph)).join('\n\n') + end;
}

function withoutLines(text: string, goes: (line: string) => boolean): string {
  return text
    .split('\n')
    .filter((line) => !goes(line))
    .join('\n');
}
