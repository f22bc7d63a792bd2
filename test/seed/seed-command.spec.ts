import { execFile } from 'node:child_process';
import { PassThrough } from 'node:stream';
import { promisify } from 'node:util';
import { StartupError } from '../../src/platform/config/startup-error';
import { createDatabase, dropDatabase, query } from '../../src/platform/testing';
import { createProgress } from '../../src/seed/progress';
import { parseArguments } from '../../src/seed/seed-arguments';
import { runSeedCommand } from '../../src/seed/seed-command';
import { PLACES } from '../support/tested-places';
import { useTestApi } from '../support/test-api';

/** What the command says on an output that is no terminal. */
async function run(words: string, environment: Record<string, string> = {}): Promise<string> {
  const output = new PassThrough({ encoding: 'utf8' });
  const before = { ...process.env };
  Object.assign(process.env, environment);
  try {
    await runSeedCommand(words.split(' ').filter(Boolean), output);
    return (output.read() as string | null) ?? '';
  } finally {
    process.env = before;
  }
}

describe('npm run seed', () => {
  const api = useTestApi();
  const environment = () => ({ NODE_ENV: 'test', DATABASE_URL: api.app.databaseUrl });

  it('says what it writes, and what it has written', async () => {
    const said = await run('--users 20 --products 5 --orders 10 --posts 0', environment());

    expect(said.split('\n')).toEqual([
      'Writing 20 users',
      'Writing 5 products',
      'Writing 10 orders',
      expect.stringMatching(/^users {17}20$/),
      expect.stringMatching(/^products {15}5$/),
      expect.stringMatching(/^orders {16}10$/),
      expect.stringMatching(/^order_items +\d\d$/),
      expect.stringMatching(/^posts {18}0$/),
      expect.stringMatching(/^comments {15}0$/),
      expect.stringMatching(/^replies {16}0$/),
      expect.stringMatching(/^\d\d rows in \d+\.\d s, [\d,]+ a second, from seed 1\.$/),
      'The new users have no password and cannot sign in.',
      '',
    ]);
  });

  it('lets the new users sign in with the password given, and without one nobody', async () => {
    const signIn = async (seed: number, password: string) => {
      const said = await run(`--users 2 --products 0 --posts 0 --seed ${seed} ${password}`, environment());
      const [{ username }] = await query(api.app.databaseUrl, 'SELECT username FROM users ORDER BY id DESC LIMIT 1');
      return { said, ...(await api.post('/auth/tokens', { username, password: 'correct-horse' })) };
    };

    expect(await signIn(5, '--password correct-horse')).toMatchObject({
      status: 201,
      said: expect.stringContaining('The new users sign in with the password given.'),
    });
    expect(await signIn(5, '')).toMatchObject({ status: 401 });
  });

  it('runs as it is delivered, in a process that has loaded nothing else', async () => {
    const { PATH, TEST_DIRECTORY: DATA_DIR } = process.env;
    const env = { PATH, DATA_DIR, ...environment() };
    const words = '--users 1 --products 1 --orders 0 --posts 0'.split(' ');

    const { stdout } = await promisify(execFile)(process.execPath, [PLACES.seed, ...words], { env });
    expect(stdout).toMatch(/^users +1$/m);
  });

  it('brings the schema of an empty database up to date first', async () => {
    const { TEST_SERVER_URL, TEST_DATABASE_PREFIX } = process.env;
    const name = `${TEST_DATABASE_PREFIX}_seed_command_${process.pid}`;
    const url = await createDatabase(TEST_SERVER_URL!, name);
    try {
      await run('--users 5', { NODE_ENV: 'test', DATABASE_URL: url });

      expect(await query(url, 'SELECT count(*)::int AS posts FROM posts')).toEqual([{ posts: 10 }]);
    } finally {
      await dropDatabase(TEST_SERVER_URL!, name);
    }
  });

  it('keeps out of production unless it is forced', async () => {
    const production = { ...environment(), NODE_ENV: 'production', TRUST_PROXY: '1', JWT_SECRET: 'x'.repeat(32) };

    await expect(run('--users 1 --products 0 --posts 0', production)).rejects.toThrow(StartupError);
    await expect(run('--users 1 --products 0 --posts 0 --force', production)).resolves.toContain('1 rows in');
  });

  it('says what is wrong with the settings', async () => {
    await expect(run('--users 1', { DATABASE_URL: 'mysql://localhost' })).rejects.toThrow(/DATABASE_URL must be a URL/);
  });

  it('explains its options, and touches no database for that', async () => {
    const help = await run('--help', { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing' });

    for (const option of ['users', 'products', 'orders', 'posts', 'comments', 'replies', 'seed', 'password', 'force']) {
      expect(help).toMatch(new RegExp(`^ {2}--${option} `, 'm'));
    }
  });

  it.each([
    ['', { users: 1_000, products: 100, orders: 500, posts: 2_000, comments: 4_000, replies: 2_000 }],
    ['--users=15', { users: 15, products: 2, orders: 8, posts: 30, comments: 60, replies: 30 }],
    ['--posts 3', { users: 1_000, products: 100, orders: 500, posts: 3, comments: 6, replies: 3 }],
    ['--comments 7', { users: 1_000, products: 100, orders: 500, posts: 2_000, comments: 7, replies: 4 }],
    ['--products 0', { users: 1_000, products: 0, orders: 0, posts: 2_000, comments: 4_000, replies: 2_000 }],
    ['--users 0 --products 9', { users: 0, products: 9, orders: 0, posts: 0, comments: 0, replies: 0 }],
  ])('takes "%s" for %j', (words, counts) => {
    expect(parseArguments(words.split(' ').filter(Boolean)).counts).toEqual(counts);
  });

  it.each([
    ['--users 1.5', '--users must be a whole number from 0 to 10000000'],
    ['--posts -1', "Option '--posts' argument is ambiguous"],
    ['--posts=-1', '--posts must be a whole number'],
    ['--replies 1e3', '--replies must be a whole number'],
    ['--users 10000001', '--users must be a whole number'],
    ['--seed 4294967296', '--seed must be a whole number from 0 to 4294967295'],
    ['--users', "Option '--users <value>' argument missing"],
    ['--user 5', "Unknown option '--user'"],
    ['100', "Unexpected argument '100'"],
    ['--password short', '--password must be 8 to 128 characters'],
    [`--password ${'x'.repeat(129)}`, '--password must be 8 to 128 characters'],
    ['--users 0 --orders 1', '--orders needs --users, which is 0'],
    ['--products 0 --orders 1', '--orders needs --products, which is 0'],
    ['--users 0 --posts 1', '--posts needs --users, which is 0'],
    ['--posts 0 --comments 1', '--comments needs --posts, which is 0'],
    ['--comments 0 --replies 1', '--replies needs --comments, which is 0'],
  ])('refuses %s', async (words, message) => {
    await expect(run(words)).rejects.toThrow(message);
  });

  it('shows a bar on a terminal', () => {
    const terminal = Object.assign(new PassThrough({ encoding: 'utf8' }), { isTTY: true, columns: 100 });
    const counts = { users: 10, products: 0, orders: 0, posts: 30, comments: 0, replies: 0 };
    const progress = createProgress(terminal, counts);
    progress.begin('users');
    progress.advance(10);
    progress.begin('posts');
    progress.advance(30);
    progress.end();

    expect(terminal.read()).toMatch(/100 % \| posts/);
  });
});
