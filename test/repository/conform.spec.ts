import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Results, reportOf } from '../../scripts/conform/report';
import { SUITES } from '../../scripts/conform/suites';
import type { Fixtures } from '../support/fixtures';
import { RESOURCES, writablesOf } from '../support/resources';
import { lacksOfUnique } from '../support/unique-attributes';
import { form, text } from '../support/values';

const PAGE = 'docs/adding-a-resource.md';
const [suite, other] = SUITES.map((one) => ({ ...one, file: one.file }));
const conform = (...nouns: string[]) =>
  spawnSync(process.execPath, ['-r', '@swc-node/register', 'scripts/conform/main.ts', ...nouns], { encoding: 'utf8' });

/** The results of one file: the messages of its failed tests, and a test that passed. */
const failed = ({ file }: { file: string }, ...messages: string[]): Results['testResults'][number] => ({
  ...{ name: resolve(file), status: messages.length > 0 ? 'failed' : 'passed', message: '' },
  assertionResults: [
    { status: 'passed', fullName: 'a test that passed', failureMessages: [] },
    ...messages.map((message, index) => ({
      ...{ status: 'failed', fullName: `test ${index + 1}` },
      failureMessages: [message],
    })),
  ],
});
const report = (...testResults: Results['testResults']) => reportOf([suite, other], { testResults }, ['invoices']);

describe('npm run conform', () => {
  it('runs every file of tests that ask all resources', () => {
    const files = readdirSync('test/conventions').filter((name) => name.startsWith('every-'));
    const named = SUITES.map(({ file }) => file);

    expect(named).toEqual(expect.arrayContaining(files.map((name) => `test/conventions/${name}`)));
    expect(new Set(named).size).toBe(named.length);
  });

  it('is described by a table with a row for each of these files', () => {
    const table = readFileSync(PAGE, 'utf8').split('## What the tests of all resources check')[1];
    const rows = table.match(/^\| `test\/[^|]+\|/gm)!.map((cell) => cell.replace(/[|` ]/g, ''));

    expect(rows).toEqual(SUITES.map(({ file }) => file));
  });

  it.each([
    [[], 'Name the resources'],
    [['invoice'], 'invoice: no such resource'],
    [['posts', 'specimens'], 'specimens: no such resource'],
  ])('refuses %j with the list of nouns', (nouns, message) => {
    const { status, stderr } = conform(...nouns);

    expect(status).toBe(1);
    expect(stderr).toContain(message);
    for (const { noun } of RESOURCES) expect(stderr).toContain(` ${noun}`);
  });

  it('says what was checked when nothing is missing', () => {
    expect(report(failed(suite), failed(other))).toEqual({
      lines: [`✓ ${suite.checks} (1)`, `✓ ${other.checks} (1)`],
      passed: true,
    });
  });

  it('says each lack in a sentence of its own, once, and where it belongs', () => {
    const lack =
      'Lack: No index begins with `amount`\nNo index begins with `amount`\nNo trigger\n    at Object.lacks (a.ts:1:2)';
    const { lines, passed } = report(failed(suite, lack), failed(other));

    expect(passed).toBe(false);
    expect(lines.slice(0, 4)).toEqual([
      `✗ ${suite.checks} (1 of 2 fail)`,
      '  - No index begins with `amount`',
      '  - No trigger',
      '    See the entity in src/resources/invoices/, and the migration.',
    ]);
  });

  it('says once what several tests fail of, without the stack and the answer', () => {
    const message = (id: number) =>
      `Error: POST /api/v1/invoices answered 200\n- the status is not documented\n{"code":200,"data":{"id":${id}}}\n    at a (b.ts:1:2)`;
    const { lines } = report(failed(suite, message(1), message(2)), failed(other));

    expect(lines.slice(1, 4)).toEqual([
      '  - test 1 (and 1 more):',
      '      POST /api/v1/invoices answered 200',
      '      - the status is not documented',
    ]);
  });

  it('fails where a file has no results, or could not be started', () => {
    const broken = { name: resolve(other.file), status: 'failed', message: 'Cannot find module', assertionResults: [] };
    const { lines, passed } = report(broken);

    expect(passed).toBe(false);
    expect(lines.join('\n')).toContain('The tests ended before these were asked');
    expect(lines.join('\n')).toContain('Cannot find module');
  });
});

describe('the description of unique attributes', () => {
  const [products] = writablesOf(RESOURCES.filter(({ noun }) => noun === 'products'));
  const own = {} as Fixtures;
  let made = 0;
  const counted = () => ({ name: String(++made), price: 1 });
  const described = (description: Partial<typeof products>, unique: string[]) =>
    lacksOfUnique({ ...products, least: counted, requests: {}, ...description }, unique, own);
  const place = 'in test/support/resources/: products are unique by it';

  it('lacks nothing where each row has another value', async () => {
    const patch = () => ({ body: counted() });

    expect(await described({ requests: { 'PATCH /api/v1/products/:id': patch } }, ['name'])).toEqual([]);
  });

  it('names the attribute that `least` gives two rows', async () => {
    const sentence = `\`least\` makes the same price twice: count it up ${place}`;

    expect(await described({}, ['price'])).toEqual([sentence]);
  });

  it('names the attribute that the PATCH gives two rows', async () => {
    const patch = () => ({ body: { name: 'Same' } });
    const sentence = `The PATCH of \`requests\` sets the same name twice: change something else ${place}`;

    expect(await described({ requests: { 'PATCH /api/v1/products/:id': patch } }, ['name'])).toEqual([sentence]);
  });

  it('asks for `fresh` where the values of an attribute that may be null have a form of their own', async () => {
    const attributes = { code: form({ taken: ['a'], refused: ['b'] }), note: text({ max: 20, nullable: true }) };
    const defaults = { code: null, note: null };
    const sentence = `code needs \`fresh\` in \`attributes\` ${place}, and may be null`;

    expect(await described({ attributes, defaults }, ['code', 'note'])).toEqual([sentence]);
  });
});
