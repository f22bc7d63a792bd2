import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { settingNames, settingRules } from '../../src/platform/config/declared-settings';
import '../../src/app.module';
import { documentedWish } from '../support/documented-example';
import { generated } from '../support/generated';

const DOCUMENTS = [
  ...['README.md', 'SECURITY.md', 'CHANGELOG.md', 'test/README.md'],
  ...readdirSync('docs').flatMap((name) => (name.endsWith('.md') ? [`docs/${name}`] : [])),
];
/** What a path may leave out. */
const BASES = ['', 'src', 'src/platform'];
/** A path of this repository: letters, dots and dashes between slashes. */
const PATH = /^(?:\.?[\w-][\w.-]*\/)*\.?[\w-][\w.-]*\/?$/;
/** A file by its ending, a folder by its slash, or anything below what lies at the root. */
const NAMES_A_PLACE =
  /\.(?:cjs|js|json|mjs|md|ts|yaml|yml)$|^[\w.-]+\/(?:.*\/)?$|^(?:src|test|docs|bench|scripts|\.ci|\.github)\//;
/** What a folder with a slash stands for elsewhere: the last part of a file's name that a client sends. */
const NO_PLACES = ['a/b/'];
/** Built, and as such not there. */
const BUILT = /^dist\/(.+)\.js$/;

/** Requirements of levels 1 and 2 in the chapters V1 to V16: how many there are in each section, numbered from 1. */
const ASVS = `
  1.1:2 1.2:9 1.3:11 1.4:3 1.5:2 2.1:3 2.2:3 2.3:4 2.4:1 3.2:2 3.3:4 3.4:6 3.5:5 3.7:2 4.1:3 4.2:1 4.3:2 4.4:4
  5.1:1 5.2:3 5.3:2 5.4:3 6.1:3 6.2:12 6.3:4 6.4:4 6.5:5 6.6:3 6.8:4 7.1:3 7.2:4 7.3:2 7.4:5 7.5:2 7.6:2
  8.1:2 8.2:3 8.3:1 8.4:1 9.1:3 9.2:4 10.1:2 10.2:2 10.3:4 10.4:11 10.5:5 10.6:2 10.7:3
  11.1:2 11.2:3 11.3:3 11.4:4 11.5:1 11.6:1 12.1:3 12.2:2 12.3:4 13.1:1 13.2:5 13.3:2 13.4:5 14.1:2 14.2:4 14.3:3
  15.1:3 15.2:3 15.3:7 16.1:1 16.2:5 16.3:4 16.4:3 16.5:3`;

const read = (path: string) => readFileSync(path, 'utf8');
const withoutCode = (page: string) => page.replace(/^```.*?^```$/gms, '');
const inBackticks = (text: string) => [...text.matchAll(/`([^`\n]+)`/g)].map(([, code]) => code);
const linksOf = (text: string) => [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target);

/** Those that nothing stands for. A name may follow a path, and lies beside it then. */
function missingPaths(text: string, made: string[]): string[] {
  let beside = '';
  return inBackticks(text).filter((code) => {
    if (!PATH.test(code) || !NAMES_A_PLACE.test(code) || NO_PLACES.includes(code)) return false;
    const path = code.replace(BUILT, 'src/$1.ts');
    const found = [...BASES, beside].map((base) => join(base, path)).find((one) => isThere(one, made));
    if (found !== undefined) beside = dirname(found);
    return found === undefined;
  });
}

function isThere(path: string, made: string[]): boolean {
  return existsSync(path) || made.some((file) => file === path || file.startsWith(path.replace(/\/?$/, '/')));
}

/** As GitHub makes them of headings. */
function anchorsOf(page: string): string[] {
  const headings = [...page.matchAll(/^#+ (.+)$/gm)].map(([, heading]) => heading);
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

function leadsSomewhere(document: string, link: string): boolean {
  if (/^(?:https?|mailto):/.test(link)) return true;
  const [path, anchor] = link.split('#');
  const target = path === '' ? document : join(dirname(document), path);
  return existsSync(target) && (anchor === undefined || anchorsOf(read(target)).includes(anchor));
}

/** The rows of all tables whose heads have this column: what stands in it, and the rest. */
function column(page: string, name: string): string[] {
  const tables = page.match(/(?:^\|.*\n)+/gm) ?? [];
  return tables.flatMap((table) => {
    const [head, , ...rows] = table.trimEnd().split('\n').map(cellsOf);
    const index = head.indexOf(name);
    return index < 0 ? [] : rows.map((row) => row[index]);
  });
}

function cellsOf(row: string): string[] {
  return row
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim());
}

const namesIn = (cells: string[]) => cells.flatMap(inBackticks).filter((code) => /^[A-Z][A-Z0-9_]+$/.test(code));

/** Settings that say how much or how long. Of the other numbers two are ports, and two count machines. */
function limits(): string[] {
  const numbers = settingRules()
    .filter(({ name }) => name === 'whole')
    .map(({ propertyName }) => propertyName);
  return numbers.filter((name) => !['PORT', 'METRICS_PORT', 'TRUST_PROXY', 'PROCESSES'].includes(name));
}

describe.each(DOCUMENTS)('%s', (document) => {
  const page = read(document);
  const text = withoutCode(page);

  it('names files and folders that are there', () => {
    const wish = documentedWish(page);
    const made = wish ? [...generated(wish).keys()] : [];

    expect(text.split('\n').flatMap((line) => missingPaths(line, made))).toEqual([]);
  });

  it('links to what is there', () => {
    expect(linksOf(text).filter((link) => !leadsSomewhere(document, link))).toEqual([]);
  });
});

describe('The settings', () => {
  it('stand in the table of the README, each once, and no others', () => {
    expect(namesIn(column(read('README.md'), 'variable')).sort()).toEqual([...settingNames()].sort());
  });

  it('stand in .env.example, each once, and no others', () => {
    const names = [...read('.env.example').matchAll(/^# ([A-Z0-9_]+)=/gm)].map(([, name]) => name);

    expect(names.sort()).toEqual([...settingNames()].sort());
  });

  it('stand among the limits of docs/security.md when they are limits, and nothing that is no setting', () => {
    const named = namesIn(column(read('docs/security.md'), 'setting'));

    expect(limits().filter((name) => !named.includes(name))).toEqual([]);
    expect(named.filter((name) => !settingNames().includes(name))).toEqual([]);
  });
});

describe('README.md', () => {
  const [house, request] = read('README.md').match(/^```mermaid\n.*?^```/gms)!;
  const roomsIn = (picture: string) =>
    [...picture.matchAll(/<b>([\w, ]+)<\/b>/g)].flatMap(([, names]) => names.split(', '));
  const rooms = readdirSync('src/platform', { withFileTypes: true }).flatMap((one) =>
    one.isDirectory() ? [one.name] : [],
  );

  it('shows each room of the platform in the picture of the house, and none that is not there', () => {
    expect(roomsIn(house).sort()).toEqual([...rooms].sort());
  });

  it('shows rooms of the platform in the picture of a request', () => {
    expect(roomsIn(request).filter((name) => !rooms.includes(name))).toEqual([]);
  });
});

describe('docs/nest.md', () => {
  it('names every file of tests of what a team may do', () => {
    const page = read('docs/nest.md');
    const files = readdirSync('test/extension').filter((name) => name.endsWith('.spec.ts'));

    // Those of one time zone each are the same tests.
    const others = files.filter((name) => !/^columns-/.test(name));
    expect(others.filter((name) => !page.includes(`test/extension/${name}`))).toEqual([]);
  });
});

describe('docs/security.md', () => {
  it('names tests that there are', () => {
    const cells = column(read('docs/security.md'), 'test');
    const named = cells.flatMap((cell) =>
      [...cell.matchAll(/`(test\/[^`]+)`((?:,? ?“[^”]+”)*)/g)].flatMap(([, file, names]) =>
        [...names.matchAll(/“([^”]+)”/g)].map(([, name]) => ({ file, name })),
      ),
    );

    expect(named.length).toBeGreaterThan(0);
    expect(cells.filter((cell) => inBackticks(cell).length === 0)).toEqual([]);
    expect(named.filter(({ file, name }) => !read(file).includes(name))).toEqual([]);
  });
});

describe('docs/operations.md', () => {
  it('has each event of the log in its table, and no other', () => {
    const [, details] = /interface SecurityEventDetails \{(.*?)^\}/ms.exec(
      read('src/platform/auth/security-events.ts'),
    )!;
    const events = [...details.matchAll(/^ {2}(\w+): /gm)].map(([, event]) => event);

    expect(column(read('docs/operations.md'), 'event').flatMap(inBackticks).sort()).toEqual(events.sort());
  });
});

describe('docs/asvs.md', () => {
  const page = read('docs/asvs.md');
  const held = column(page, 'held');

  it('has each requirement once, in the order of the standard', () => {
    const sections = ASVS.trim()
      .split(/\s+/)
      .map((section) => section.split(':'));
    const ids = sections.flatMap(([section, count]) =>
      Array.from({ length: Number(count) }, (_, index) => `${section}.${index + 1}`),
    );

    expect(column(page, 'requirement')).toEqual(ids);
  });

  it('says of each whether it is held, and by what or why not', () => {
    expect(held.filter((one) => !['yes', 'partly', 'no', 'not ours'].includes(one))).toEqual([]);
    expect(column(page, 'by what').filter((text) => text === '')).toEqual([]);
  });

  it('counts them as they are', () => {
    const count = (word: string) => `${held.filter((one) => one === word).length} ${word}`;

    expect(page).toContain(['yes', 'partly', 'no', 'not ours'].map(count).join(', '));
  });
});
