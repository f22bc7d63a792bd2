import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

/** Suites of each kind: documents, settings, all resources, one of the examples, a command, and the service on its own. */
const SUITES = [
  'test/config/settings',
  'test/conventions/architecture',
  'test/conventions/every-collection',
  'test/repository/documents',
  'test/repository/resource-command',
  'test/repository/without-examples',
  'test/resources/orders',
  'test/seed/seed-command',
];
const PATIENCE = 280_000;

/** Where they left, there is nothing to remove. */
const whereTheyAre = existsSync('src/resources/products') ? describe : describe.skip;

whereTheyAre('npm run resource -- remove --examples', () => {
  const directory = mkdtempSync(join(tmpdir(), 'resource-api-examples-'));
  const { PATH, HOME } = process.env;
  const env = { PATH, HOME, DATA_DIR: join(directory, '.data'), GIT_CONFIG_NOSYSTEM: '1' };
  const file = (path: string) => join(directory, path);

  function run(program: string, ...words: string[]): { status: number | null; output: string } {
    const { status, stdout, stderr } = spawnSync(program, words, { cwd: directory, env, encoding: 'utf8' });
    return { status, output: stdout + stderr };
  }

  const node = (...words: string[]) => run(process.execPath, ...words);
  const removeExamples = (...words: string[]) =>
    node('-r', '@swc-node/register', 'scripts/resource/main.ts', 'remove', '--examples', ...words);
  const git = (...words: string[]) =>
    run('git', '-c', 'user.name=Test', '-c', 'user.email=test@example.com', '-c', 'commit.gpgsign=false', ...words);

  /** As far as git knows it or would. */
  beforeAll(() => {
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
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

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
});
