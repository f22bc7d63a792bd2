import { randomUUID } from 'node:crypto';
import { Controller, Module, Post } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { CreatesEach, InputsOf, Public, ResourceDto, Text } from '../../src/platform';
import { expectError, query, times } from '../../src/platform/testing';
import { insert } from '../support/modules/handlers';
import { useTestApi } from '../support/test-api';

const LENIENT = { Prefer: 'handling=lenient' };

class MarkDto extends ResourceDto {
  @Text({ min: 1, max: 40 })
  name: string;
}

class CreateMarkDto {
  @Text({ min: 1, max: 40 })
  name: string;
}

/** Two statements for each mark, by the manager of no transaction. The second one fails for a name that is taken. */
@Controller('marks')
class MarksController {
  static calls: number[] = [];

  constructor(private readonly database: DataSource) {}

  @Post()
  @Public()
  @CreatesEach(MarkDto)
  async create(@InputsOf(CreateMarkDto) inputs: CreateMarkDto[]): Promise<object[]> {
    MarksController.calls.push(inputs.length);
    for (const { name } of inputs) {
      await insert(this.database.manager, `before ${name} ${randomUUID()}`);
      await insert(this.database.manager, name);
      if (name === 'broken') throw new Error('The handler fails');
    }
    return inputs.map(({ name }) => ({ name }));
  }
}

@Module({ controllers: [MarksController] })
class MarksModule {}

describe('A handler with @CreatesEach()', () => {
  const api = useTestApi({ imports: [MarksModule] });
  const sql = (text: string) => query(api.app.databaseUrl, text);
  const marks = async () =>
    (await sql("SELECT name FROM marks WHERE name NOT LIKE 'before%' ORDER BY name")).map(({ name }) => name as string);
  const allMarks = async () => (await sql('SELECT FROM marks')).length;
  const named = (...names: string[]) => names.map((name) => ({ name }));

  beforeAll(() => sql('CREATE TABLE marks (name text PRIMARY KEY)'));

  beforeEach(async () => {
    await sql('TRUNCATE marks');
    await api.post('/marks', { name: 'taken' });
    MarksController.calls = [];
  });

  it('is called once for a list, and answers one resource for an input alone', async () => {
    const alone = await api.post('/marks', { name: 'alone' });
    const listed = await api.post('/marks', named('first', 'second'));

    expect(alone.body.data).toEqual({ name: 'alone' });
    expect(listed.body.data).toEqual(named('first', 'second'));
    expect(MarksController.calls).toEqual([1, 2]);
  });

  it.each<Record<string, string>>([{}, { 'Idempotency-Key': 'of a conflict' }])(
    'leaves nothing behind if one of a list conflicts, and tells its position: %j',
    async (headers) => {
      const answer = await api.post('/marks', named('new', 'taken', 'newer'), headers);

      expect(expectError(answer, 'CONFLICT').details).toMatch(/^1/);
      expect(await marks()).toEqual(['taken']);
      expect(await allMarks()).toBe(2);
    },
  );

  it.each<Record<string, string>>([LENIENT, { ...LENIENT, 'Idempotency-Key': 'of results' }])(
    'creates the others of a lenient list, and nothing of the one that conflicts: %j',
    async (headers) => {
      const { status, body } = await api.post('/marks', named('new', 'taken', 'newer', 'new'), headers);

      expect(status).toBe(207);
      expect(body.data).toMatchObject([
        { status: 201, data: { name: 'new' } },
        { status: 409, error: { code: 'CONFLICT' } },
        { status: 201, data: { name: 'newer' } },
        { status: 409, error: { code: 'CONFLICT' } },
      ]);
      expect(await marks()).toEqual(['new', 'newer', 'taken']);
      expect(await allMarks()).toBe(6);
    },
  );

  it.each<Record<string, string>>([{}, LENIENT])(
    'answers 500 and leaves nothing behind if the handler fails: %j',
    async (headers) => {
      expectError(await api.post('/marks', named('new', 'broken'), headers), 'INTERNAL_ERROR');
      expect(await marks()).toEqual(['taken']);
    },
  );

  it('answers one 201 to requests with one key at once, and creates the marks once', async () => {
    const headers = { 'Idempotency-Key': randomUUID() };
    const answers = await Promise.all(times(5, () => api.post('/marks', named('once', 'only'), headers)));

    expect(answers.filter(({ status }) => status === 201).length).toBeGreaterThan(0);
    expect(answers.every(({ status }) => [201, 409].includes(status))).toBe(true);
    expect(await marks()).toEqual(['once', 'only', 'taken']);
  });
});
