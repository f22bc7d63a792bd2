import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createDatabase, dropDatabase } from '../../src/platform/testing';
import { Scratch } from '../generator/scratch';

const { TEST_SERVER_URL, TEST_DATABASE_PREFIX } = process.env;
const NAMES = ['mine', 'theirs'].map((name) => `${TEST_DATABASE_PREFIX}${name}`);

const ENTITIES = `
import { Column, Entity, PrimaryGeneratedColumn, ViewColumn, ViewEntity } from 'typeorm';

@Entity('lamps')
export class Lamp {
  @PrimaryGeneratedColumn()
  id: number;

  @Column('text')
  name: string;

  @Column({ type: 'text', asExpression: "lower(name) || '$1'", generatedType: 'STORED' })
  lower_name: string;

  @Column({ type: 'enum', enum: ['ON', 'OFF'], default: 'ON' })
  first: string;

  @Column({ type: 'enum', enum: ['ON', 'OFF'], default: 'OFF' })
  second: string;

  @Column({ type: 'enum', enum: ['ON', 'OFF'], default: 'OFF' })
  third: string;
}

@ViewEntity({ name: 'lamp_names', expression: 'SELECT id, lower_name FROM lamps' })
export class LampName {
  @ViewColumn()
  id: number;

  @ViewColumn()
  lower_name: string;
}
`;

/** The migration of a view and a generated column, in a copy of the project. The steps follow each other. */
describe('npm run migration:generate', () => {
  let scratch: Scratch;
  let urls: string[];
  const runAt = (url: string, ...script: string[]) =>
    scratch.run('env', `DATABASE_URL=${url}`, 'npm', 'run', '--silent', ...script);

  beforeAll(async () => {
    scratch = new Scratch();
    urls = [];
    for (const name of NAMES) urls.push(await createDatabase(TEST_SERVER_URL!, name));
    writeFileSync(join(scratch.directory, 'src/resources/lamps.entity.ts'), ENTITIES);
  });
  afterAll(async () => {
    scratch.delete();
    for (const name of NAMES) await dropDatabase(TEST_SERVER_URL!, name);
  });

  it('writes what runs on an empty database, as at a start, for a view and a generated column', () => {
    expect(runAt(urls[0], 'migration:generate', '--', 'add-lamps')).toEqual({
      status: 0,
      said: expect.stringMatching(/Two releases can share the schema: .*AddLamps/),
    });
  });

  it('writes no name of the database', () => {
    const folder = join(scratch.directory, 'src/migrations');
    const file = readdirSync(folder).find((name) => name.endsWith('-add-lamps.ts'))!;

    expect(readFileSync(join(folder, file), 'utf8')).not.toContain(NAMES[0]);
  });

  it('finds nothing more to migrate in a database of another name', () => {
    expect(runAt(urls[1], 'migration:run')).toMatchObject({ status: 0 });
    const { status, said } = runAt(urls[1], 'typeorm', '--', 'migration:generate', '--check', 'src/migrations/more');

    expect([status, said]).toEqual([0, expect.stringContaining('No changes in database schema were found')]);
    // By pg, for statements at once on one connection.
    expect(said).not.toContain('DeprecationWarning');
  });

  it('takes back what it wrote', () => {
    expect(runAt(urls[1], 'migration:revert')).toMatchObject({ status: 0 });
    const { said } = runAt(urls[1], 'typeorm', '--', 'migration:generate', '--check', 'src/migrations/more');

    expect(said).toContain('lamp_names');
    expect(said).toContain('current_database()');
  });
});
