import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import ts from 'typescript';
import { readParts } from '../../scripts/openapi/documents';
import { itCalls } from '../support/client';
import { useGateway } from '../support/gateway';
import { usePackedClient } from '../support/packed-client';
import { useTestApi } from '../support/test-api';

const MOST_BYTES = 15_000;

describe('The package of the client', () => {
  const api = useTestApi({ settings: { DEMO_DATA: 'true' } });
  const gateway = useGateway(() => api.url);
  const { directory, inside, write, node, run } = usePackedClient();

  it('has no dependencies, and what it exports', () => {
    const { dependencies, exports, version } = JSON.parse(readFileSync(inside('package.json'), 'utf8'));
    const files = Object.values(exports as Record<string, Record<string, string>>).flatMap((one) => Object.values(one));

    expect(dependencies).toBeUndefined();
    expect(version).toBe(JSON.parse(readFileSync('package.json', 'utf8')).version);
    expect(files.filter((path) => !existsSync(inside(path)))).toEqual([]);
    expect(existsSync(inside('README.md')) && existsSync(inside('LICENSE'))).toBe(true);
  });

  it(`has at most ${MOST_BYTES} bytes, minified and compressed`, async () => {
    const esbuild = resolve('node_modules/.bin/esbuild');
    const words = [inside('dist/index.js'), '--bundle', '--minify', '--format=esm', '--platform=browser'];
    const { stdout } = await run(esbuild, ...words);

    expect(stdout).toContain('Idempotency-Key');
    expect(gzipSync(stdout).length).toBeLessThan(MOST_BYTES);
  });

  it.each([1, 2] as const)('has the paths of the checked-in document of version %i, and no others', (version) => {
    const paths = [...readParts(version).values()].flatMap((part) => Object.keys(part.paths ?? {}));
    const below = paths.flatMap((path) => /^\/api\/v\d(\/.*)$/.exec(path)?.[1] ?? []);
    const [types] = readFileSync(inside(`dist/generated/v${version}.d.ts`), 'utf8').split('export type webhooks');

    expect(below.length).toBeGreaterThan(5);
    expect([...types.matchAll(/^ {4}"(\/.*)": \{/gm)].map(([, path]) => path).sort()).toEqual(below.sort());
  });

  itCalls('has a page whose examples compile, and run one after the other', async () => {
    const page = readFileSync(inside('README.md'), 'utf8');
    const examples = [...page.matchAll(/^```ts\n(.*?)^```/gms)].map(([, code]) => code);
    const program = examples.join('\n').replaceAll('http://localhost:3000', api.url);
    write('readme.mts', program);
    expect(errorsOf(join(directory, 'readme.mts'))).toEqual([]);

    write(
      'readme.mjs',
      ts.transpileModule(program, { compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 } })
        .outputText,
    );
    const { stdout } = await node('readme.mjs');
    expect(stdout).toContain('grace\n');
    expect(stdout).toMatch(/^username .*\nemail /m);
    expect(stdout).toMatch(/^7 of 7\n[\w-]+ 7$/m);
  });

  it('has ten lines of use at the beginning of its page', () => {
    const [, first] = /^```ts\n(.*?)^```/ms.exec(readFileSync('client/README.md', 'utf8'))!;

    expect(first.trim().split('\n').length).toBeLessThanOrEqual(10);
  });

  itCalls('serves the tour: lists all, orders once through broken connections, and uploads with a bar', async () => {
    const tour = readFileSync('client/examples/tour.mjs', 'utf8');
    write('tour.mjs', tour);
    expect(errorsOf(join(directory, 'tour.mjs'))).toEqual([]);
    gateway.faultOf = faultsOf({ 'GET /api/v2/products': 'before', 'POST /api/v2/orders': 'after' });
    const before = await ordersOf();
    const { stdout } = await node('tour.mjs', gateway.url, resolve('README.md'));

    const names = stdout.match(/^\d+ .+: [\d.]+$/gm)!;
    expect(names.length).toBe((await api.get('/products?status=ACTIVE&size=1')).body.pagination.total);
    expect(await ordersOf()).toBe(before + 1);
    expect(gateway.asked.filter((one) => one === 'POST /orders').length).toBe(2);
    expect(stdout).toContain(`[${'#'.repeat(20)}]`);
    expect(stdout).toContain(`${readFileSync('README.md').length} bytes`);
    expect(
      tour.split('\n').filter((line) => line.trim() !== '' && !/^(?:\/\/|\/\*\*|import)/.test(line)).length,
    ).toBeLessThanOrEqual(20);
  });

  /** One fault for the first request of each kind. */
  function faultsOf(faults: Record<string, 'before' | 'after'>): typeof gateway.faultOf {
    return ({ method, path }) => {
      const kind = `${method} ${path.split('?')[0]}`;
      const fault = faults[kind];
      delete faults[kind];
      return fault;
    };
  }

  async function ordersOf(): Promise<number> {
    const { accessToken } = await signIn('ada');
    return (await api.as({ token: accessToken }).get('/orders?size=1')).body.pagination.total;
  }

  async function signIn(username: string): Promise<{ accessToken: string }> {
    const { body } = await api.post('/auth/tokens', { username, password: 'demo-password' });
    return { accessToken: body.data.access_token };
  }
});

/** As an editor shows them. */
function errorsOf(file: string): string[] {
  const program = ts.createProgram([file], {
    strict: true,
    noEmit: true,
    allowJs: true,
    checkJs: true,
    skipLibCheck: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
    types: ['node'],
    typeRoots: [resolve('node_modules/@types')],
  });
  const found = ts.getPreEmitDiagnostics(program);
  return found.map(
    ({ file: source, messageText }) => `${source?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`,
  );
}
