import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

const PAGE = 'docs/decisions.md';
const CITING = ['src', 'test', 'docs', 'bench', 'scripts', 'README.md', 'SECURITY.md', 'CHANGELOG.md'];
const TEXT = /\.(?:ts|mjs|md)$/;
const CITATION = /\bD-(\d+)\b/g;
/** What a path in `Where:` may leave out. */
const BASES = ['', 'src', 'src/platform'];

interface Decision {
  number: number;
  title: string;
  text: string;
}

const decisions: Decision[] = readFileSync(PAGE, 'utf8')
  .split(/^### /m)
  .slice(1)
  .map((section) => {
    const [heading, ...lines] = section.split(/\n(?!#)/);
    const [, number, title] = /^D-(\d+): (.+)$/.exec(heading) ?? [undefined, NaN, heading];
    return { number: Number(number), title, text: lines.join('\n') };
  });

function filesBelow(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path).flatMap((name) => filesBelow(join(path, name)));
}

const named = ({ number, title }: Decision) => `D-${number}: ${title}`;

function namesAPlace({ text }: Decision): boolean {
  const [, where = ''] = /^Where: ([^]*?)\n*(?:$|\n\n)/m.exec(text) ?? [];
  const paths = [...where.matchAll(/`([^`\n]+)`/g)].map(([, path]) => path);
  return paths.some((path) => BASES.some((base) => existsSync(join(base, path))));
}

describe('docs/decisions.md', () => {
  it('numbers its decisions from 1, each number once and none left out', () => {
    const numbers = decisions.map(({ number }) => number).sort((one, other) => one - other);

    expect(numbers.length).toBeGreaterThan(100);
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
  });

  it('has each title once', () => {
    const titles = decisions.map(({ title }) => title);

    expect(titles.filter((title, index) => titles.indexOf(title) !== index)).toEqual([]);
  });

  it('says of each decision why it was made, and names a file or folder where it is found', () => {
    expect(decisions.filter(({ text }) => !/^Why: /m.test(text)).map(named)).toEqual([]);
    expect(decisions.filter((decision) => !namesAPlace(decision)).map(named)).toEqual([]);
  });

  it('has every decision that code, tests and documents cite', () => {
    const numbers = new Set(decisions.map(({ number }) => number));
    const files = CITING.flatMap(filesBelow).filter((path) => TEXT.test(path));
    const dangling = files.flatMap((path) =>
      [...readFileSync(path, 'utf8').matchAll(CITATION)]
        .filter(([, number]) => !numbers.has(Number(number)))
        .map(([citation]) => `${path}: ${citation}`),
    );

    expect(dangling).toEqual([]);
  });
});
