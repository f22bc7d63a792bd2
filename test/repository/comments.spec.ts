import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDERS = ['src', 'test', 'bench', 'scripts', 'client/src'];
const CODE = /\.(?:ts|mjs|cjs)$/;
/** A sentence that says what it is about before its subject. docs/style.md has others. */
const WITHOUT_SUBJECT = /^\s*(?:\/\*\*|\*|\/\/) Of [a-z]/;

describe.each(FOLDERS)('A comment in %s', (folder) => {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => CODE.test(name));

  it('begins with its subject', () => {
    const found = files.flatMap((name) => {
      const lines = readFileSync(join(folder, name), 'utf8').split('\n');
      return lines.filter((line) => WITHOUT_SUBJECT.test(line)).map((line) => `${name}: ${line.trim()}`);
    });

    expect(files).not.toEqual([]);
    expect(found).toEqual([]);
  });
});
