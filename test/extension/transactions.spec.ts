import { randomUUID } from 'node:crypto';
import { Controller, Module, Param, Post } from '@nestjs/common';
import fc from 'fast-check';
import type { Pool } from 'pg';
import { DataSource } from 'typeorm';
import { Idempotent, Public } from '../../src/platform';
import { type Answer, query, waitFor } from '../../src/platform/testing';
import { useTestApi } from '../support/test-api';
import { MAX_CONNECTIONS, Model, type Program, programs, Runner, type Step } from './transaction-programs';

const RUNS = Number(process.env.TRANSACTION_PROGRAMS ?? 200);

/** Handlers of these tests, by the name in their path. */
const handlers = new Map<string, () => Promise<unknown>>();

@Controller('programs')
class ProgramsController {
  @Post(':name')
  @Public()
  @Idempotent()
  async run(@Param('name') name: string): Promise<object> {
    await handlers.get(name)!();
    return { name };
  }
}

@Module({ controllers: [ProgramsController] })
class ProgramsModule {}

describe('Transactions of a handler', () => {
  const api = useTestApi({
    settings: { DATABASE_MAX_CONNECTIONS: String(MAX_CONNECTIONS), REQUEST_TIMEOUT: '10000' },
    imports: [ProgramsModule],
  });
  const sql = (text: string, values?: unknown[]) => query(api.app.databaseUrl, text, values);
  let database: DataSource;

  beforeAll(async () => {
    database = api.app.nest.get(DataSource);
    await sql('CREATE TABLE marks (name text PRIMARY KEY)');
  });

  const marks = async () => new Set((await sql('SELECT name FROM marks')).map(({ name }) => name as string));

  async function post(handler: () => Promise<unknown>, key?: string): Promise<Answer & { path: string }> {
    const path = `/programs/${randomUUID()}`;
    handlers.set(path.split('/')[2], handler);
    return { ...(await api.post(path, undefined, key === undefined ? {} : { 'Idempotency-Key': key })), path };
  }

  /** Whoever comes next has a connection that is nobody's, and what they write stays. */
  async function expectSoundPool(): Promise<void> {
    const { master } = database.driver as unknown as { master: Pool };
    await waitFor(() => master.idleCount === master.totalCount && master.waitingCount === 0);
    const open =
      "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'";
    // The server is told a little later.
    await waitFor(async () => (await sql(open)).length === 0);
    const names = Array.from({ length: MAX_CONNECTIONS }, () => randomUUID() as string);
    const answers = await Promise.all(names.map((name) => post(() => write(name))));
    expect(answers.map(({ status }) => status)).toEqual(names.map(() => 201));
    const all = await marks();
    expect(names.filter((name) => !all.has(name))).toEqual([]);
  }

  const write = (name: string) => database.query('INSERT INTO marks (name) VALUES ($1)', [name]);

  async function runProgram(program: Program, key?: string) {
    const runner = new Runner(database);
    const outside: Promise<void>[] = [];
    let answered = () => {};
    const answer = new Promise<void>((resolve) => (answered = resolve));
    const handler = async () => {
      for (const steps of program.floating) outside.push(runner.run(steps));
      for (const steps of program.late) outside.push(answer.then(() => runner.run(steps)));
      await runner.run(program.awaited);
      if (program.fails) throw new Error('The handler fails');
    };
    const { status, path } = await post(handler, key);
    answered();
    await Promise.all(outside);
    return { status, sights: runner.sights, repeat: () => api.post(path, undefined, { 'Idempotency-Key': key! }) };
  }

  const namesOf = (steps: Step[]): string[] => JSON.stringify(steps).match(/\bw\d+\b/g) ?? [];

  const wrongIn = (steps: Step[], stored: Set<string>, { kept }: Model) =>
    namesOf(steps).filter((name) => stored.has(name) !== kept.has(name));

  function expectOwnHalf(sights: Runner['sights'], models: Model[]): void {
    for (const { path, names } of sights) {
      for (const { undone, whole } of models) {
        for (const [name, by] of undone) expect(names.has(name) && !path.includes(by) && name).toBe(false);
        for (const [id, own] of whole) {
          if (path.includes(id)) continue;
          const seen = own.filter((name) => names.has(name));
          expect([0, own.length]).toContain(seen.length);
        }
      }
    }
  }

  it('do without a key what TypeORM says, whatever they are', async () => {
    await fc.assert(
      fc.asyncProperty(programs, async (program) => {
        const all = [program.awaited, ...program.floating, ...program.late];
        const models = all.map((steps) => new Model(steps));
        await sql('TRUNCATE marks');
        const { status, sights } = await runProgram(program);

        expect(status).toBe(program.fails ? 500 : 201);
        const stored = await marks();
        all.forEach((steps, index) => expect(wrongIn(steps, stored, models[index])).toEqual([]));
        expectOwnHalf(sights, models);
      }),
      { numRuns: RUNS / 2 },
    );
    await expectSoundPool();
  }, 300_000);

  it('do the same with a key, or else nothing', async () => {
    const answers: Record<string, number> = {};
    await fc.assert(
      fc.asyncProperty(programs, async (program) => {
        const all = [program.awaited, ...program.floating, ...program.late];
        const models = all.map((steps) => new Model(steps));
        await sql('TRUNCATE marks');
        const key = randomUUID();
        const { status, sights, repeat } = await runProgram(program, key);
        const stored = await marks();
        const right = status === 201 ? all : program.late;

        const [awaited] = models;
        const mayFail = models.slice(0, 1 + program.floating.length).some(({ isTooMuchForOne }) => isTooMuchForOne);
        // What isn't awaited may come too late to be part of it.
        if (program.fails || awaited.isTooMuchForOne) expect(status).toBe(500);
        else if (!mayFail) expect(status).toBe(201);
        for (const steps of right) expect(wrongIn(steps, stored, models[all.indexOf(steps)])).toEqual([]);
        if (status !== 201) expect(namesOf(program.awaited).filter((name) => stored.has(name))).toEqual([]);
        expectOwnHalf(sights, status === 201 ? models : models.slice(1 + program.floating.length));
        if (status === 201) expect((await repeat()).headers.get('Idempotent-Replayed')).toBe('true');
        expect(await marks()).toEqual(stored);
        answers[status] = (answers[status] ?? 0) + 1;
      }),
      { numRuns: RUNS },
    );
    await expectSoundPool();
    // Programs of both kinds were tried.
    expect(Math.min(answers[201], answers[500])).toBeGreaterThan(RUNS / 10);
  }, 300_000);
});
