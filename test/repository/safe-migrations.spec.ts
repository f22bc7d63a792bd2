import { readFileSync } from 'node:fs';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { checkMigrations, problemsOfAll } from '../../scripts/migrations/check';
import { RULES } from '../../scripts/migrations/rules';
import { migrationSources, releasedMigrations } from '../../scripts/migrations/sources';
import { addIndex, dropIndex } from '../../src/platform';
import { cloneTemplate, createDatabase, dropDatabase, query } from '../../src/platform/testing';

const { TEST_SERVER_URL, TEST_DATABASE_PREFIX } = process.env;
const REASON = 'nothing has written it since 0.9';

type Statements = string[] | ((database: QueryRunner) => Promise<void>);
type Row = [statements: Statements, problem: string, transaction?: boolean];
type Permitted = [statements: Statements, transaction?: boolean];

/** What exists before, besides what the service has. */
const BEFORE = `
  DROP TABLE IF EXISTS walls, facades, shelves, doors CASCADE;
  DROP SCHEMA IF EXISTS attic CASCADE;
  DROP FUNCTION IF EXISTS shade;
  DROP TYPE IF EXISTS colour CASCADE;
  CREATE TYPE colour AS ENUM ('RED', 'BLUE');
  CREATE FUNCTION shade(value text) RETURNS text LANGUAGE sql AS 'SELECT value';
  CREATE TABLE walls (id bigint PRIMARY KEY, name varchar(20) NOT NULL, note text, size integer NOT NULL DEFAULT 1);
  CREATE TABLE shelves (id bigint PRIMARY KEY, wall_id bigint, tint colour)`;

const DROPPED = ['ALTER TABLE walls DROP COLUMN note'];

const REFUSED: Row[] = [
  [['ALTER TABLE walls ADD COLUMN height integer NOT NULL'], 'not-null walls.height'],
  [['ALTER TABLE walls ALTER COLUMN note SET NOT NULL'], 'not-null walls.note'],
  [['ALTER TABLE walls ALTER COLUMN size DROP DEFAULT'], 'not-null walls.size'],
  [['ALTER TABLE walls DROP COLUMN note'], 'drop walls.note'],
  [['DROP TABLE shelves'], 'drop shelves'],
  [['DROP FUNCTION shade'], 'drop shade'],
  [['ALTER TABLE shelves DROP COLUMN tint', 'DROP TYPE colour'], 'drop colour'],
  [['ALTER TABLE walls RENAME COLUMN note TO remark'], 'rename walls.note'],
  [['ALTER TABLE walls RENAME TO facades'], 'rename walls'],
  [['ALTER TABLE walls RENAME CONSTRAINT walls_pkey TO walls_key'], 'rename walls_pkey'],
  [['CREATE SCHEMA attic', 'ALTER TABLE shelves SET SCHEMA attic'], 'rename shelves'],
  [['ALTER TABLE walls ALTER COLUMN size TYPE bigint'], 'type walls.size'],
  [['ALTER TABLE walls ALTER COLUMN name TYPE varchar(10)'], 'type walls.name'],
  [['CREATE INDEX walls_note ON walls (note)'], 'index walls_note'],
  [['ALTER TABLE walls ADD CONSTRAINT walls_size_range CHECK (size > 0)'], 'constraint walls_size_range'],
  [['ALTER TABLE walls ADD CONSTRAINT walls_name_unique UNIQUE (name)'], 'constraint walls_name_unique'],
  [['ALTER TABLE walls ADD COLUMN height integer CHECK (height > 0)'], 'constraint walls.height'],
  [
    ['ALTER TABLE shelves ADD CONSTRAINT shelves_wall_id_fkey FOREIGN KEY (wall_id) REFERENCES walls'],
    'constraint shelves_wall_id_fkey',
  ],
  [
    [
      'ALTER TABLE walls ADD CONSTRAINT walls_size_range CHECK (size > 0) NOT VALID',
      'ALTER TABLE walls VALIDATE CONSTRAINT walls_size_range',
    ],
    'constraint walls_size_range',
  ],
  [['ALTER TABLE walls ADD COLUMN key uuid DEFAULT gen_random_uuid()'], 'rewrite walls.key'],
  [['ALTER TABLE walls ADD COLUMN number bigserial'], 'rewrite walls.number'],
  [['ALTER TABLE walls ADD COLUMN area integer GENERATED ALWAYS AS (size * 2) STORED'], 'rewrite walls.area'],
  [["UPDATE walls SET note = '' WHERE note IS NULL"], 'rows walls'],
  [['DELETE FROM shelves'], 'rows shelves'],
  [['TRUNCATE shelves'], 'rows shelves'],
  [['LOCK TABLE walls IN SHARE MODE'], 'lock walls'],
  [['DO $$ BEGIN EXECUTE 1; EXCEPTION WHEN OTHERS THEN END $$'], 'hidden DO'],
  [['ALTER TABLE walls ADD COLUMN height integer'], 'transaction walls', false],
  [['CREATE TABLE doors (id bigint)'], 'transaction doors', false],
  [['ALTER TABLE nothing ADD COLUMN height integer'], 'run Tried1'],
  [(database) => addIndex(database, 'walls_note', 'ON walls (note)'), 'run Tried1'],
];

const ALLOWED: Permitted[] = [
  [['ALTER TABLE walls ADD COLUMN height integer', 'ALTER TABLE walls ADD COLUMN depth integer NOT NULL DEFAULT 1']],
  [['ALTER TABLE walls ADD COLUMN hung_at timestamptz NOT NULL DEFAULT now()']],
  [['ALTER TABLE walls ADD COLUMN shelf_id bigint CONSTRAINT walls_shelf_id_fkey REFERENCES shelves']],
  [['ALTER TABLE walls ALTER COLUMN name TYPE varchar(40)']],
  [['ALTER TABLE walls ALTER COLUMN size DROP NOT NULL']],
  [['ALTER TABLE walls ADD CONSTRAINT walls_size_range CHECK (size > 0) NOT VALID']],
  [
    [
      'CREATE TABLE doors (id bigint PRIMARY KEY, wall_id bigint NOT NULL REFERENCES walls)',
      'CREATE INDEX doors_wall_id ON doors (wall_id)',
      'ALTER TABLE doors ADD CONSTRAINT doors_range CHECK (id > 0)',
      'UPDATE doors SET id = 1',
      'ALTER TABLE doors RENAME COLUMN wall_id TO side_id',
      'CREATE TRIGGER walls_touch BEFORE UPDATE ON walls FOR EACH ROW EXECUTE FUNCTION touch_row()',
    ],
  ],
  [(database) => addIndex(database, 'walls_note', 'ON walls (note)'), false],
  [(database) => dropIndex(database, 'walls_note'), false],
];

function titled<R extends Row | Permitted>(rows: R[]): [title: string, ...R][] {
  return rows.map((row) => {
    const [statements] = row;
    return [
      typeof statements === 'function' ? /\w+Index/.exec(statements.toString())![0] : statements.join('; '),
      ...row,
    ];
  });
}

describe('The migrations of the service', () => {
  const name = `${TEST_DATABASE_PREFIX}_safe_migrations_${process.pid}`;
  let url: string;

  beforeAll(async () => {
    url = await createDatabase(TEST_SERVER_URL!, name);
  });
  afterAll(() => dropDatabase(TEST_SERVER_URL!, name));

  it('leave the schema usable for instances of the last release, or say why', async () => {
    expect(await checkMigrations(url, migrationSources(), releasedMigrations())).toEqual([]);
  });
});

describe('A new migration', () => {
  let database: Awaited<ReturnType<typeof cloneTemplate>>;

  beforeAll(async () => {
    database = await cloneTemplate();
  });
  afterAll(() => database.drop());

  /** What is said of a migration. */
  async function tried(statements: Statements, { transaction, comment }: { transaction?: boolean; comment?: string }) {
    const up = async (runner: QueryRunner) => {
      if (typeof statements === 'function') return statements(runner);
      for (const one of statements) await runner.query(one);
    };
    class Tried1 implements MigrationInterface {
      transaction = transaction;
      up = up;
      down = () => Promise.resolve();
    }
    const sources = new Map([['Tried1', { path: 'src/migrations/1-tried.ts', text: comment ?? '' }]]);
    await query(database.url, BEFORE);
    return problemsOfAll(database.url, [new Tried1()], sources);
  }

  it.each(titled(REFUSED))('is refused for %s', async (_title, ...[statements, problem, transaction]: Row) => {
    const problems = await tried(statements, { transaction });

    expect(problems.map((text) => text.split('\n')[1].trim())).toContainEqual(
      expect.stringMatching(new RegExp(`^${problem}: \\w`)),
    );
  });

  it.each(titled(ALLOWED))('may do %s', async (_title, ...[statements, transaction]: Permitted) => {
    expect(await tried(statements, { transaction })).toEqual([]);
  });

  it('is told which statement breaks which rule, why, and what to do instead', async () => {
    expect(await tried(DROPPED, {})).toEqual([
      [
        'src/migrations/1-tried.ts',
        '  drop walls.note: the last release still reads it.',
        '  Instead: stop using it in this release, and drop it in the next one.',
        '  If it must be: // safe-migration: drop walls.note: <why nobody notices>',
      ].join('\n'),
    ]);
  });

  it('may break a rule for a reason that it states', async () => {
    expect(await tried(DROPPED, { comment: `    // safe-migration: drop walls.note: ${REASON}` })).toEqual([]);
    expect(await tried(DROPPED, { comment: `// safe-migration: drop walls.size: ${REASON}` })).toHaveLength(2);
  });

  it('says that a reason is too short', async () => {
    const problems = await tried(DROPPED, { comment: '// safe-migration: drop walls.note: old' });

    expect(problems).toEqual([expect.stringContaining('  drop walls.note: ')]);
    expect(problems[0]).toContain('its reason is too short: 3 characters of at least 15.');
  });

  it.each([
    `// safe-migration: drop walls.note ${REASON}`,
    `//safe-migration: drop walls.note: ${REASON}`,
    `// safe-migration drop walls.note: ${REASON}`,
    `const old = 'note'; // safe-migration: drop walls.note: ${REASON}`,
    `/* safe-migration: drop walls.note: ${REASON} */`,
  ])('names a comment that it does not understand: %s', async (comment) => {
    const problems = await tried(DROPPED, { comment });

    expect(problems).toHaveLength(2);
    expect(problems[1]).toContain(`${comment}\n  excuses nothing: write // safe-migration: <rule> <object>: <why`);
  });

  it('keeps no reason for what it does no more', async () => {
    const [problem] = await tried([], { comment: `// safe-migration: drop walls.note: ${REASON}` });

    expect(problem).toContain("says why for drop walls.note, which it doesn't do: remove the comment");
  });

  it('makes no index CONCURRENTLY but by addIndex()', async () => {
    const [problem] = await tried([], { comment: "'CREATE INDEX CONCURRENTLY walls_note ON walls (note)'" });

    expect(problem).toContain('index CONCURRENTLY: an attempt that fails leaves an index that nothing uses');
  });

  it.each(Object.keys(RULES).filter((rule) => rule !== 'run'))('finds its rule %s in docs/migrations.md', (rule) => {
    expect(readFileSync('docs/migrations.md', 'utf8')).toContain(`| \`${rule}\``);
  });
});
