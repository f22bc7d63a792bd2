import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { Type } from '@nestjs/common';
import { startApp } from '../support/test-app';
import { TestApi } from '../support/test-api';

const run = promisify(execFile);
const ROOT = resolve(__dirname, '../..');
const NEST = join(ROOT, 'node_modules/@nestjs/cli/bin/nest.js');
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');
const LIMIT = 60_000;

const SCHEMATICS = 'module controller service guard pipe filter interceptor middleware decorator provider'.split(' ');

/** Several programs on few cores. */
jest.setTimeout(240_000);

describe('nest generate', () => {
  const project = mkdtempSync(join(tmpdir(), 'resource-api-generate-'));
  const nest = (...words: string[]) =>
    run(process.execPath, [NEST, 'generate', ...words], { cwd: project, timeout: LIMIT });
  const file = (path: string) => readFileSync(join(project, path), 'utf8');

  beforeAll(async () => {
    for (const name of ['src', 'package.json', 'nest-cli.json', 'tsconfig.json', 'tsconfig.build.json']) {
      cpSync(join(ROOT, name), join(project, name), { recursive: true });
    }
    symlinkSync(join(ROOT, 'node_modules'), join(project, 'node_modules'));
    await nest('resource', 'resources/widgets', '--type', 'rest', '--crud');
    for (const schematic of SCHEMATICS) await nest(schematic, `resources/gadgets/${schematic}-of-gadgets`, '--flat');
  });

  afterAll(() => rmSync(project, { recursive: true, force: true }));

  it('makes files of every kind that compile, and has the application import them', async () => {
    const { stdout } = await run(process.execPath, [TSC, '--noEmit', '-p', 'tsconfig.build.json'], { cwd: project });

    expect(stdout).toBe('');
    expect(file('src/app.module.ts')).toContain("from './resources/widgets/widgets.module'");
    for (const schematic of SCHEMATICS) {
      const suffix = schematic === 'provider' ? '' : `.${schematic}`;
      expect(file(`src/resources/gadgets/${schematic}-of-gadgets${suffix}.ts`)).toMatch(/export (class|const) /);
    }
  });

  /** What was generated, as the application would load it. */
  function load(folder: string): Type {
    // eslint-disable-next-line @typescript-eslint/no-require-imports
    return (require(join(project, 'src/resources', folder, 'widgets.module')) as { WidgetsModule: Type }).WidgetsModule;
  }

  it('makes routes whose access is still to be declared, which the start names', async () => {
    const start = startApp({ imports: [load('widgets')] }).then((app) => app.stop());

    await expect(start).rejects.toThrow(/GET widgets\/:id \(WidgetsController\.findOne\)/);
  });

  it('makes routes that work when it is declared', async () => {
    cpSync(join(project, 'src/resources/widgets'), join(project, 'src/resources/declared'), { recursive: true });
    const declaration = "import { Public } from '../../platform';\n";
    const source = file('src/resources/widgets/widgets.controller.ts').replace('@Controller', '@Public()\n@Controller');
    writeFileSync(join(project, 'src/resources/declared/widgets.controller.ts'), declaration + source);
    const api = new TestApi();
    api.app = await startApp({ imports: [load('declared')] });
    try {
      expect(await api.get('/widgets/7')).toMatchObject({ status: 200, text: 'This action returns a #7 widget' });
      expect(await api.post('/widgets', {})).toMatchObject({ status: 201 });
      expect(await api.delete('/widgets/7')).toMatchObject({ status: 200 });
    } finally {
      await api.app.stop();
    }
  });
});
