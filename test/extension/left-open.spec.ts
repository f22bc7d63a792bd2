import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import fc from 'fast-check';
import type { EntityManager, QueryRunner } from 'typeorm';
import { type Handler, insert, useHandlers } from '../support/modules/handlers';

const FAILURE = new Error('fails');
const RUNS = Number(process.env.TRANSACTION_PROGRAMS ?? 150);

type Method = 'startTransaction' | 'commitTransaction' | 'rollbackTransaction';

/** Who calls the method: the function that uses the manager, another one, or a flow that begins, and ends what it has begun. */
type By = 'itself' | 'function' | 'flow';

type Step =
  { kind: 'write' } | { kind: 'method'; name: Method; by: By } | { kind: 'nested'; steps: Step[]; fails: boolean };

const method = (name: Method, weight: number) => ({
  weight,
  arbitrary: fc.record({
    kind: fc.constant('method' as const),
    name: fc.constant(name),
    by: fc.constantFrom<By>('itself', 'function', 'flow'),
  }),
});

/** Steps of one flow. What is begun by hand is ended by whoever comes, or too rarely. */
const { steps } = fc.letrec<{ steps: Step[]; step: Step }>((tie) => ({
  steps: fc.array(tie('step'), { minLength: 1, maxLength: 5 }),
  step: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    { weight: 8, arbitrary: fc.record({ kind: fc.constant('write' as const) }) },
    method('startTransaction', 5),
    method('commitTransaction', 3),
    method('rollbackTransaction', 2),
    {
      weight: 5,
      arbitrary: fc.record({ kind: fc.constant('nested' as const), steps: tie('steps'), fails: fc.boolean() }),
    },
  ),
}));

/** A call of transaction(): whether it has succeeded, and what was done meanwhile. */
interface Call {
  hasSucceeded?: boolean;
  /** The number of transactions begun by hand in it that are still open, as its caller sees it. */
  open: number;
  writes: string[];
}

/** What a program has done. */
class Story {
  readonly calls: Call[] = [];
  private readonly open: Call[] = [];
  /** Flows that have begun a transaction, and wait for the method by which they end it. */
  private readonly flows: End[] = [];
  private writes = 0;
  isRolledBackByHand = false;

  async nested(manager: EntityManager, { steps: body, fails }: Step & { kind: 'nested' }): Promise<void> {
    const call: Call = { open: 0, writes: [] };
    this.calls.push(call);
    this.open.push(call);
    try {
      await manager.transaction(async (inner) => {
        for (const step of body) await this.carryOut(inner, step).catch(() => undefined);
        if (fails) throw FAILURE;
      });
      call.hasSucceeded = true;
    } catch (error) {
      call.hasSucceeded = false;
      throw error;
    } finally {
      this.open.pop();
      const around = this.open.at(-1);
      if (around) around.open += call.open;
    }
  }

  /** The names that a call has promised to store, and those that it has not stored. */
  get expected(): { stored: string[]; lost: string[] } {
    const lost = this.calls.flatMap(({ hasSucceeded, writes }) => (hasSucceeded ? [] : writes));
    const kept = this.calls.flatMap(({ writes }) => writes).filter((name) => !lost.includes(name));
    return { stored: this.isRolledBackByHand ? [] : kept, lost };
  }

  private async carryOut(manager: EntityManager, step: Step): Promise<void> {
    if (step.kind === 'nested') return this.nested(manager, step);
    if (step.kind === 'write') {
      const name = `${++this.writes}`;
      await insert(manager, name);
      return this.open.forEach(({ writes }) => writes.push(name));
    }
    const call = this.open.at(-1)!;
    const begins = step.name === 'startTransaction';
    if (!begins && call.open === 0) return;
    await this.call(manager, step);
    call.open += begins ? 1 : -1;
    this.isRolledBackByHand ||= step.name === 'rollbackTransaction';
  }

  private async call({ queryRunner }: EntityManager, { name, by }: Step & { kind: 'method' }): Promise<void> {
    if (by === 'flow' && name !== 'startTransaction') return this.flows.pop()?.(name);
    if (by === 'flow') return void this.flows.push(await beginFlow(queryRunner!));
    if (by === 'function') await turnOfTheLoop();
    await queryRunner![name]();
  }
}

type End = (method: Method) => Promise<void>;

/** Begins a transaction in a flow of its own. @returns what makes that flow end it */
async function beginFlow(runner: QueryRunner): Promise<End> {
  let tell!: (method: Method) => void;
  const told = new Promise<Method>((resolve) => (tell = resolve));
  let ended!: Promise<void>;
  await new Promise<void>((begun, failed) => {
    const flow = async () => {
      await turnOfTheLoop();
      await runner.startTransaction();
      begun();
      await runner[await told]();
    };
    ended = flow();
    ended.catch(failed);
  });
  return (method) => {
    tell(method);
    return ended;
  };
}

describe('A transaction that a function has begun by hand and left open in a nested transaction()', () => {
  const { marks, send, sql } = useHandlers();

  it('stores nothing of a call of transaction() that has failed, and all of one that has succeeded', async () => {
    const answers: Record<string, number> = {};
    await fc.assert(
      fc.asyncProperty(steps, async (program) => {
        await sql('TRUNCATE marks');
        const story = new Story();
        const { status } = await send((manager) =>
          story.nested(manager, { kind: 'nested', steps: program, fails: false }),
        );
        answers[status] = (answers[status] ?? 0) + 1;
        const names = await marks();
        const { stored, lost } = story.expected;
        if (status !== 201) return expect([status, names]).toEqual([500, []]);
        expect(names).toEqual(expect.arrayContaining(stored));
        expect(names.filter((name) => lost.includes(name))).toEqual([]);
      }),
      { numRuns: RUNS },
    );
    expect(Math.min(answers[201], answers[500])).toBeGreaterThan(RUNS / 10);
  }, 300_000);

  it.each<[string, boolean, 'commitTransaction' | 'rollbackTransaction']>([
    ['has failed is committed', true, 'commitTransaction'],
    ['has succeeded is rolled back', false, 'rollbackTransaction'],
  ])('makes the request fail if a call that %s in its stead', async (_what, fails, end) => {
    const handler: Handler = (manager) =>
      manager.transaction(async (outer) => {
        let endFlow!: End;
        const nested = outer.transaction(async (inner) => {
          await insert(inner, 'nested');
          endFlow = await beginFlow(inner.queryRunner!);
          if (fails) throw FAILURE;
        });
        await nested.catch(() => undefined);
        await endFlow(end).catch(() => undefined);
      });
    const { status } = await send(handler);
    expect([status, await marks()]).toEqual([500, []]);
  });

  it('has nothing to do with a connection that is lost in a nested transaction() whose failure is caught: 503', async () => {
    const handler: Handler = (manager) =>
      manager.transaction(async (outer) => {
        const nested = outer.transaction(async (inner) => {
          await insert(inner, 'lost');
          const [{ pid }] = await inner.query<{ pid: number }[]>('SELECT pg_backend_pid() AS pid');
          await sql(`SELECT pg_terminate_backend(${pid}, 5000)`);
        });
        await nested.catch(() => undefined);
      });
    const { status } = await send(handler);
    expect([status, await marks()]).toEqual([503, []]);
  });
});
