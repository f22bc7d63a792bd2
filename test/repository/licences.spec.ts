import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const script = resolve('scripts/weekly.mjs');

function check(directory: string) {
  const { stdout, status } = spawnSync(process.execPath, [script, 'licences'], { cwd: directory, encoding: 'utf8' });
  return { stdout, status };
}

describe('The licences of production dependencies', () => {
  let directory: string;

  beforeEach(() => {
    directory = mkdtempSync(join(process.env.TEST_DIRECTORY!, 'licences-'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  /** Packages that are installed, each with what its package.json says of its licence. */
  function install(packages: Record<string, object>, kind = 'dependencies'): void {
    const versions = Object.fromEntries(Object.keys(packages).map((name) => [name, '1.0.0']));
    const write = (path: string, json: object) => writeFileSync(join(directory, path), JSON.stringify(json));
    write('package.json', { name: 'some-service', version: '1.0.0', license: 'MIT', [kind]: versions });
    for (const [name, licence] of Object.entries(packages)) {
      mkdirSync(join(directory, 'node_modules', name), { recursive: true });
      write(join('node_modules', name, 'package.json'), { name, version: '1.0.0', ...licence });
    }
  }

  it('are all in the list', () => {
    const { stdout, status } = check('.');

    expect(stdout).toMatch(/\n[1-9]\d+ packages, 0 with a licence that nobody has looked at\n/);
    expect(status).toBe(0);
  });

  it.each([
    ['a licence with other demands', { license: 'AGPL-3.0-only' }, 'AGPL-3.0-only'],
    ['a choice that nobody has looked at', { license: '(MIT OR GPL-2.0-only)' }, '(MIT OR GPL-2.0-only)'],
    ['an old list', { licenses: [{ type: 'MIT' }, { type: 'GPL-2.0' }] }, 'MIT OR GPL-2.0'],
    ['no licence', {}, 'no licence'],
    ['a licence that is a file', { license: 'SEE LICENSE IN EULA.md' }, 'SEE LICENSE IN EULA.md'],
  ])('fail for %s, and the package is named', (_what, licence, said) => {
    install({ good: { license: 'MIT' }, older: { license: { type: 'MIT' } }, bad: licence });
    const { stdout, status } = check(directory);

    expect(stdout).toContain(`bad@1.0.0: ${said} is not in the list`);
    expect(stdout).toContain(', 1 with a licence that nobody has looked at');
    expect(status).toBe(1);
  });

  it('are those of production alone: what only developers use may have others', () => {
    install({ tool: { license: 'GPL-3.0-only' } }, 'devDependencies');

    expect(check(directory).status).toBe(0);
  });
});
