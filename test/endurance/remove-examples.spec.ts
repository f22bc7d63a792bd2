import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { cloneTemplate, query } from '../../src/platform/testing';

/** Suites of each kind: settings, conventions, documents, a command, one of the examples, and the service on its own. */
const SUITES = [
  'test/config/settings',
  'test/conventions/architecture',
  'test/conventions/said-once',
  'test/repository/documents',
  'test/repository/resource-command',
  'test/repository/without-examples',
  'test/resources/orders',
  'test/seed/seed-command',
];
const PATIENCE = 600_000;

/** Where they left, there is nothing to remove. */
const whereTheyAre = existsSync('src/resources/products') ? describe : describe.skip;

whereTheyAre('npm run resource -- remove --examples', () => {
  const directory = mkdtempSync(join(tmpdir(), 'resource-api-examples-'));
  const { PATH, HOME } = process.env;
  const env = { PATH, HOME, DATA_DIR: join(directory, '.data'), GIT_CONFIG_NOSYSTEM: '1' };
  const file = (path: string) => join(directory, path);

  let database: Awaited<ReturnType<typeof cloneTemplate>>;

  function run(program: string, words: string[], settings: object = {}): { status: number | null; output: string } {
    const options = { cwd: directory, env: { ...env, ...settings }, encoding: 'utf8' } as const;
    const { status, stdout, stderr } = spawnSync(program, words, options);
    return { status, output: stdout + stderr };
  }

  const node = (...words: string[]) => run(process.execPath, words);
  /** With a database that has the tables of the examples. */
  const nodeOnDatabase = (...words: string[]) =>
    run(process.execPath, ['-r', '@swc-node/register', ...words], { DATABASE_URL: database.url });
  const resource = (...words: string[]) => nodeOnDatabase('scripts/resource/main.ts', ...words, '--no-documents');
  const removeExamples = (...words: string[]) =>
    nodeOnDatabase('scripts/resource/main.ts', 'remove', '--examples', ...words);
  const git = (...words: string[]) =>
    run('git', ['-c', 'user.name=Test', '-c', 'user.email=test@example.com', '-c', 'commit.gpgsign=false', ...words]);

  /** As far as git knows it or would. */
  beforeAll(async () => {
    database = await cloneTemplate();
    const { stdout } = spawnSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
      encoding: 'utf8',
    });
    for (const path of stdout.split('\0').filter((one) => one !== '' && existsSync(one))) {
      mkdirSync(dirname(file(path)), { recursive: true });
      cpSync(path, file(path));
    }
    symlinkSync(resolve('node_modules'), file('node_modules'), 'junction');
    // A link is no folder for the pattern of .gitignore.
    writeFileSync(file('.git-exclude'), '/node_modules\n/.git-exclude\n');
    git('init', '--quiet');
    git('config', 'core.excludesFile', file('.git-exclude'));
    git('add', '--all');
    expect(git('commit', '--quiet', '--message', 'All').output).toBe('');
  });
  afterAll(async () => {
    rmSync(directory, { recursive: true, force: true });
    await database.drop();
  });

  it('leaves another resource alone that was edited after it was added, unless it is forced to remove it', () => {
    const path = 'src/resources/zebras/zebra.dto.ts';
    expect(resource('add', 'zebras', 'number:text(9)')).toMatchObject({ status: 0 });
    expect(resource('remove', 'zebras')).toMatchObject({ status: 0 });
    expect(git('status', '--porcelain').output).toBe('');

    expect(resource('add', 'zebras', 'number:text(9)')).toMatchObject({ status: 0 });
    const later = new Date(Date.now() + 60_000);
    utimesSync(file(path), later, later);
    expect(resource('remove', 'zebras').output).toContain(`${path}: has changes that are not committed`);
    expect(existsSync(file(path))).toBe(true);
    expect(resource('remove', 'zebras', '--force')).toMatchObject({ status: 0 });
    expect(git('status', '--porcelain').output).toBe('');
  });

  it('refuses while there are changes that are not committed, and changes nothing', () => {
    writeFileSync(file('README.md'), `${readFileSync('README.md', 'utf8')}\nMine.\n`);
    const { status, output } = removeExamples();

    expect(output).toContain('README.md: has changes that are not committed');
    expect(status).toBe(1);
    expect(git('status', '--porcelain').output.trim()).toBe('M README.md');
    git('checkout', '--quiet', 'README.md');
  });

  it('refuses while another resource uses one, and names it', () => {
    const path = 'src/uploads/bought.ts';
    writeFileSync(file(path), "export { Product } from '../resources/products/product.entity';\n");
    const { status, output } = removeExamples();

    expect(output).toContain(`${path}: uses an example`);
    expect(status).toBe(1);
    rmSync(file(path));
  });

  it.each([
    ['reports', 'comments:lines(1000)?'],
    ['bundles', 'product_ids:products[]'],
  ])('refuses while the table of %s, which stays, is made by a migration that names an example', (noun, attribute) => {
    expect(resource('add', noun, 'title:text(20)', attribute)).toMatchObject({ status: 0 });

    expect(removeExamples('--dry-run')).toMatchObject({
      status: 1,
      output: expect.stringMatching(new RegExp(`-add-${noun}\\.ts: names an example`)),
    });
    expect(resource('remove', noun)).toMatchObject({ status: 0 });
    expect(git('status', '--porcelain').output).toBe('');
  });

  it('lists what it would do', () => {
    const { output } = removeExamples('--dry-run');

    expect(output).toContain('src/resources/orders/stock.ts -> test/support/examples/resources/orders/stock.ts');
    expect(output).toContain('src/demo/posts.ts -> ');
    expect(git('status', '--porcelain').output).toBe('');
  });

  it(
    'leaves a service that compiles and obeys all conventions',
    () => {
      expect(removeExamples()).toMatchObject({ status: 0 });
      expect(node('node_modules/typescript/bin/tsc', '--noEmit', '-p', 'tsconfig.json')).toEqual({
        status: 0,
        output: '',
      });
      expect(existsSync(file('src/resources/products'))).toBe(false);
      const jest = node('node_modules/jest/bin/jest.js', ...SUITES);
      expect(jest.status === 0 ? '' : jest.output).toBe('');
    },
    PATIENCE,
  );

  it('drops their tables where a database has them', async () => {
    const names = async () => {
      const rows = await query(
        database.url,
        "SELECT relname AS name FROM pg_class WHERE relname ~ '^(users|product|order)'",
      );
      return rows.map(({ name }) => name as string);
    };
    expect(await names()).toEqual(expect.arrayContaining(['users', 'products', 'order_items']));

    expect(nodeOnDatabase('src/platform/database/run-migrations.ts').output).toBe('');
    expect(await names()).toContain('users');
    expect((await names()).filter((name) => !name.startsWith('users'))).toEqual([]);
  });
});
