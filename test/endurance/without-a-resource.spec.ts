import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createDatabase, dropDatabase, withDatabase } from '../../src/platform/testing';
import { aNewUser } from '../support/builders';
import { BuiltService } from '../support/built-service';

interface Removal {
  /** Folders of src/. */
  folders: string[];
  /** Their modules, each of which has a line in app.module.ts. */
  modules: string[];
  /** What the service has no path of any more. */
  paths: string[];
  /** What no document says any more. */
  unsaid: RegExp;
}

const COPIED = ['src', 'tsconfig.json', 'tsconfig.build.json', 'nest-cli.json', 'package.json'];
const BUILD_PATIENCE_MS = 300_000;
const DEMO = 'demo';

/** A copy of the service in a folder of its own. */
class Copy {
  readonly directory = mkdtempSync(join(tmpdir(), 'resource-api-copy-'));

  constructor() {
    for (const name of COPIED) cpSync(name, join(this.directory, name), { recursive: true });
    symlinkSync(resolve('node_modules'), join(this.directory, 'node_modules'), 'junction');
  }

  remove({ folders, modules }: Removal): void {
    for (const folder of folders) rmSync(join(this.directory, 'src', folder), { recursive: true });
    for (const module of modules) {
      this.edit('src/app.module.ts', new RegExp(`^import .*\\b${module}\\b.*\\n`, 'm'));
      this.edit('src/app.module.ts', new RegExp(`^ {2}${module},\\n`, 'm'));
    }
  }

  /** Which show several resources at once, and go with the first of them. */
  removeDemoData(): void {
    rmSync(join(this.directory, 'src', DEMO), { recursive: true });
    this.edit('src/app.module.ts', /^import .*\bDemoModule\b.*\n/m);
    this.edit('src/app.module.ts', /, DemoModule/);
    this.edit('src/main.ts', /^import .*\bDemoAccounts\b.*\n/m);
    this.edit('src/main.ts', /, \{ demo: .*\}(?=\);)/);
  }

  /** With its types. Returns what the compiler says against it. */
  build(): string {
    const nest = resolve('node_modules/@nestjs/cli/bin/nest.js');
    const { stdout, stderr, status } = spawnSync(process.execPath, [nest, 'build'], {
      cwd: this.directory,
      encoding: 'utf8',
    });
    return status === 0 ? '' : stdout + stderr;
  }

  delete(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }

  private edit(name: string, removed: RegExp): void {
    const path = join(this.directory, name);
    const text = readFileSync(path, 'utf8');
    expect(text).toMatch(removed);
    writeFileSync(path, text.replace(removed, ''));
  }
}

describe('The service without a resource', () => {
  const server = process.env.TEST_SERVER_URL!;
  const database = `${process.env.TEST_DATABASE_PREFIX}_without_${process.pid}`;
  let copy: Copy;
  let service: BuiltService | undefined;

  beforeEach(async () => {
    copy = new Copy();
    await createDatabase(server, database);
  });
  afterEach(async () => {
    await service?.stop();
    service = undefined;
    copy.delete();
    await dropDatabase(server, database);
  });

  const get = async (path: string) => fetch(service!.url + path);
  const post = async (path: string, body: object) =>
    fetch(service!.url + path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });

  /** With a wrong value of each setting that nobody reads any more. */
  async function start(settings: Record<string, string> = {}): Promise<void> {
    const DATABASE_URL = withDatabase(server, database);
    service = await BuiltService.start(
      { DATABASE_URL, LOG_LEVEL: 'info', ...settings },
      { directory: copy.directory, script: 'dist/main.js' },
    );
  }

  /** What the rest does, on a database that it has made itself. */
  async function expectTheRest({ paths, unsaid }: Removal): Promise<void> {
    const { username, password, ...others } = aNewUser();
    const document = await (await get('/docs/json')).text();

    expect((await get('/health/ready')).status).toBe(200);
    expect((await post('/api/v1/users', { username, password, ...others })).status).toBe(201);
    expect((await post('/api/v1/auth/tokens', { username, password })).status).toBe(201);
    expect((await get('/api/v1/users')).status).toBe(401);
    for (const path of paths) expect([path, (await get(path)).status]).toEqual([path, 404]);
    expect(Object.keys((JSON.parse(document) as { paths: object }).paths).length).toBeGreaterThan(5);
    expect(document).not.toMatch(unsaid);
  }

  it(
    'builds, starts and serves the rest without uploads: their settings, error codes and headers are gone',
    async () => {
      const removal = {
        folders: ['uploads'],
        modules: ['UploadsModule'],
        paths: ['/api/v1/uploads'],
        unsaid: /upload|QUOTA_EXCEEDED|CHECKSUM_MISMATCH|tus-/i,
      };
      copy.remove(removal);

      expect(copy.build()).toBe('');
      await start({ MAX_UPLOAD_SIZE: 'none', S3_BUCKET: '?', CORS_ORIGINS: 'https://app.example.com' });
      await expectTheRest(removal);
      const answer = await fetch(`${service!.url}/api/v1/users`, { headers: { Origin: 'https://app.example.com' } });
      expect(answer.headers.get('Access-Control-Expose-Headers')).toContain('ETag');
      expect(answer.headers.get('Access-Control-Expose-Headers')).not.toMatch(/upload|tus/i);
    },
    BUILD_PATIENCE_MS,
  );

  it(
    'builds, starts and serves the rest without /public and the keys of tokens',
    async () => {
      const removal = {
        folders: ['resources/public', 'resources/keys'],
        modules: ['PublicModule', 'KeysModule'],
        paths: ['/api/v1/public', '/.well-known/jwks.json'],
        unsaid: /\/public|jwks/i,
      };
      copy.remove(removal);

      expect(copy.build()).toBe('');
      await start({ PUBLIC_RATE_LIMIT: 'none' });
      await expectTheRest(removal);
    },
    BUILD_PATIENCE_MS,
  );

  (existsSync('src/resources/replies') ? it : it.skip)(
    'builds, starts and serves the rest without replies, and the demo data that show them',
    async () => {
      const removal = {
        folders: ['resources/replies'],
        modules: ['RepliesModule'],
        paths: ['/api/v1/replies', '/api/v1/comments/1/replies'],
        unsaid: /\/replies/i,
      };
      copy.remove(removal);

      expect(copy.build()).toContain('src/demo/posts.ts');
      copy.removeDemoData();
      expect(copy.build()).toBe('');
      await start();
      await expectTheRest(removal);
    },
    BUILD_PATIENCE_MS,
  );
});
