import { Scratch } from './scratch';
import { ZOO } from './zoo';

const NOUNS = ZOO.map(([noun]) => noun);
const PATIENCE_MS = 600_000;
const TOOLS = ['types', 'lint', 'format:check', 'lint:openapi'];

/** Twelve resources in a copy of the project. The steps follow each other. */
describe('npm run resource', () => {
  let scratch: Scratch;
  const resource = (...args: string[]) => scratch.expectRun('npm', 'run', '--silent', 'resource', '--', ...args);

  beforeAll(() => {
    scratch = new Scratch();
  });
  afterAll(() => scratch.delete());

  it('says what it would write, and writes nothing', () => {
    expect(resource('add', ...ZOO[0], '--dry-run')).toContain('src/resources/tags/tag.entity.ts');
    expect(scratch.changes()).toEqual([]);
  });

  it.each(ZOO)('adds %s', (noun, ...rest) => {
    resource('add', noun, ...rest, '--no-documents');

    expect(scratch.changes()).not.toEqual([]);
  });

  it('lists them', () => {
    const nouns = resource('list').split('\n');

    for (const noun of NOUNS) expect(nouns).toContainEqual(expect.stringContaining(`${noun} `));
  });

  it('refuses one that is there', () => {
    expect(scratch.run('npm', 'run', '--silent', 'resource', '--', 'add', ...ZOO[0]).said).toContain('exists already');
  });

  it(
    'writes documents that the service serves',
    () => {
      expect(scratch.expectRun('npm', 'run', '--silent', 'openapi')).toContain('openapi');
    },
    PATIENCE_MS,
  );

  it.each(TOOLS)(
    'leaves nothing to say for npm run %s',
    (tool) => {
      scratch.expectRun('npm', 'run', '--silent', tool);
    },
    PATIENCE_MS,
  );

  it(
    'writes resources that conform, and whose own tests pass',
    () => {
      const suites = ['test/resources', 'test/conventions/architecture', 'test/database', 'test/demo'];

      scratch.expectRun('npm', 'run', '--silent', 'conform', '--', ...NOUNS);
      scratch.expectRun('npx', 'jest', ...suites);
    },
    PATIENCE_MS,
  );

  it(
    'removes them without a trace',
    () => {
      for (const noun of [...NOUNS].reverse()) resource('remove', noun, '--no-documents');
      scratch.expectRun('npm', 'run', '--silent', 'openapi');

      expect(scratch.changes()).toEqual([]);
    },
    PATIENCE_MS,
  );
});
