import { setImmediate as turnOfTheLoop, setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import type { EntityManager, QueryRunner } from 'typeorm';
import { type Handler, insert, useHandlers } from '../support/modules/handlers';

const FAILURE = new Error('fails');
const RUNS = Number(process.env.TRANSACTION_PROGRAMS ?? 200);

/** Where a query runner's method is called: by the function that uses its manager, or by another one, at once or later. */
const PLACES = {
  'in its function': (work: () => Promise<void>) => work(),
  'by another function': async (work: () => Promise<void>) => {
    await work();
    await turnOfTheLoop();
  },
  'by another function, later': async (work: () => Promise<void>) => {
    await turnOfTheLoop();
    await work();
  },
};
type At = keyof typeof PLACES;

type Method = 'startTransaction' | 'commitTransaction' | 'rollbackTransaction';

type Step =
  | { kind: 'write' }
  | { kind: 'failing statement' }
  | { kind: 'method'; name: Method; at: At }
  | { kind: 'release' }
  | { kind: 'nested'; steps: Step[]; fails: boolean };

const at = fc.constantFrom(...(Object.keys(PLACES) as At[]));
const method = (name: Method, weight: number) => ({
  weight,
  arbitrary: fc.record({ kind: fc.constant('method' as const), name: fc.constant(name), at }),
});
const rare = (kind: 'failing statement' | 'release') => fc.record({ kind: fc.constant(kind) });

/** Steps of one flow. Transactions are begun and ended by hand, too often, too rarely or in a wrong order as well. */
const { steps } = fc.letrec<{ steps: Step[]; step: Step }>((tie) => ({
  steps: fc.array(tie('step'), { minLength: 1, maxLength: 5 }),
  step: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    { weight: 8, arbitrary: fc.record({ kind: fc.constant('write' as const) }) },
    method('startTransaction', 5),
    method('commitTransaction', 3),
    method('rollbackTransaction', 2),
    { weight: 1, arbitrary: rare('failing statement') },
    { weight: 1, arbitrary: rare('release') },
    {
      weight: 4,
      arbitrary: fc.record({ kind: fc.constant('nested' as const), steps: tie('steps'), fails: fc.boolean() }),
    },
  ),
}));

/** Carries steps out, and tells of each whether it has succeeded. */
async function carryOut(manager: EntityManager, program: Step[], told: boolean[]): Promise<void> {
  const { queryRunner } = manager;
  const tell = (work: Promise<unknown>) =>
    work.then(
      () => told.push(true),
      () => told.push(false),
    );
  for (const step of program) {
    if (step.kind === 'write') await tell(insert(manager, `${told.length}`));
    else if (step.kind === 'failing statement') await tell(manager.query('SELECT 1 / 0'));
    else if (step.kind === 'release') await tell(queryRunner!.release());
    else if (step.kind === 'method') await tell(PLACES[step.at](() => queryRunner![step.name]()));
    else await tell(nested(manager, step, told));
  }
}

const nested = (manager: EntityManager, { steps: body, fails }: Step & { kind: 'nested' }, told: boolean[]) =>
  manager.transaction(async (inner) => {
    await carryOut(inner, body, told);
    if (fails) throw FAILURE;
  });

/** In a transaction that a query runner of its own begins and ends. */
async function byOwnRunner({ dataSource }: EntityManager, where: At, program: Step[], told: boolean[]): Promise<void> {
  const runner = dataSource.createQueryRunner();
  try {
    await PLACES[where](() => runner.startTransaction());
    await carryOut(runner.manager, program, told);
    await PLACES[where](() => runner.commitTransaction());
  } finally {
    await runner.release();
  }
}

const later = PLACES['by another function, later'];
const begin = (manager: EntityManager) => later(() => manager.queryRunner!.startTransaction());
const commit = (manager: EntityManager) => later(() => manager.queryRunner!.commitTransaction());
const rollback = (manager: EntityManager) => later(() => manager.queryRunner!.rollbackTransaction());

const leftOpen = async (outer: EntityManager) => {
  await insert(outer, 'outer');
  await outer
    .transaction(async (inner) => {
      await begin(inner);
      await insert(inner, 'lost');
      throw FAILURE;
    })
    .catch(() => undefined);
  await insert(outer, 'after');
};

/** A transaction begun by a function beside the one that goes on, which holds it open for a while. */
async function beside(runner: QueryRunner, name: string, end: 'commitTransaction' | 'rollbackTransaction') {
  await turnOfTheLoop();
  await runner.startTransaction();
  await insert(runner.manager, name);
  await sleep(20);
  await runner[end]();
}

describe('A transaction begun by hand on the query runner of transaction()', () => {
  const { marks, messages, send, sql } = useHandlers({ REQUEST_TIMEOUT: '2000' });

  it('does the same with a key and without one, or is refused, whatever is done by hand', async () => {
    const answers: Record<string, number> = {};
    await fc.assert(
      fc.asyncProperty(steps, fc.option(at), fc.boolean(), async (program, byHand, isCaught) => {
        const results: [status: number, names: string[], told: boolean[]][] = [];
        for (const keyed of [false, true]) {
          await sql('TRUNCATE marks');
          const told: boolean[] = [];
          const handler: Handler = async (manager) => {
            const whole = byHand
              ? byOwnRunner(manager, byHand, program, told)
              : nested(manager, { kind: 'nested', steps: program, fails: false }, told);
            await (isCaught ? whole.catch(() => undefined) : whole);
          };
          const { status } = await send(handler, keyed);
          results.push([status, await marks(), told]);
        }
        const [[without, kept, succeeded], [status, names, told]] = results;
        answers[status] = (answers[status] ?? 0) + 1;
        if (status !== 201) return expect([status, names]).toEqual([500, []]);
        expect([status, names, told.length]).toEqual([without, kept, succeeded.length]);
        // With a key, release() also refuses a transaction in which a statement has failed.
        expect(told.filter((one, index) => one && !succeeded[index])).toEqual([]);
      }),
      { numRuns: RUNS },
    );
    // Programs of both kinds were tried.
    expect(Math.min(answers[201], answers[500])).toBeGreaterThan(RUNS / 10);
  }, 300_000);

  describe.each([
    ['without a key', false],
    ['with a key', true],
  ])('%s', (_name, keyed) => {
    it.each<[string, Handler, string[]]>([
      [
        'may be committed',
        async (manager) => {
          await begin(manager);
          await insert(manager, 'a');
          await manager.transaction((inner) => insert(inner, 'nested'));
          await commit(manager);
          await insert(manager, 'b');
        },
        ['a', 'b', 'nested'],
      ],
      [
        'may be rolled back',
        async (manager) => {
          await insert(manager, 'a');
          await begin(manager);
          await insert(manager, 'lost');
          await rollback(manager);
          await insert(manager, 'b');
        },
        ['a', 'b'],
      ],
      [
        'may be in another one',
        async (manager) => {
          await begin(manager);
          await insert(manager, 'lost');
          await begin(manager);
          await insert(manager, 'lost too');
          await commit(manager);
          await rollback(manager);
          await insert(manager, 'a');
        },
        ['a'],
      ],
      [
        'may wait for what is written beside it',
        async (manager) => {
          let goOn = () => {};
          const written = new Promise<void>((resolve) => (goOn = resolve));
          const work = async () => {
            await turnOfTheLoop();
            await manager.queryRunner!.startTransaction();
            await insert(manager, 'a');
            await written;
            await manager.queryRunner!.commitTransaction();
          };
          await Promise.all([work(), sleep(20).then(() => insert(manager, 'b').then(goOn))]);
        },
        ['a', 'b'],
      ],
      [
        'may be awaited in a nested one',
        async (manager) => {
          const work = beside(manager.queryRunner!, 'a', 'commitTransaction');
          await sleep(10);
          await manager.transaction((inner) => insert(inner, 'b').then(() => work));
        },
        ['a', 'b'],
      ],
    ])('%s by another function', async (_kind, work, names) => {
      const { status } = await send((manager) => manager.transaction(work), keyed);
      expect([status, await marks()]).toEqual([201, names]);
    });

    it.each<[string, Handler]>([
      ['in the outermost one', (manager) => begin(manager).then(() => insert(manager, 'lost'))],
      ['in a nested one that fails', leftOpen],
      ['in a nested one of a nested one that fails', (manager) => manager.transaction(leftOpen)],
    ])('is refused when it is left open %s', async (_kind, work) => {
      const { status } = await send((manager) => manager.transaction(work), keyed);
      expect([status, await marks()]).toEqual([500, []]);
      expect(messages()).toContain('was released inside of its transaction');
    });

    it('is undone when it is left open in one whose failure is caught', async () => {
      const handler: Handler = async (manager) => {
        await manager.transaction(leftOpen).catch(() => undefined);
        await insert(manager, 'a');
      };
      expect((await send(handler, keyed)).status).toBe(201);
      expect(await marks()).toEqual(['a']);
    });

    it.each<[string, 'commitTransaction' | 'rollbackTransaction', boolean]>([
      ['stores nothing of a nested one that has failed', 'commitTransaction', true],
      ['loses nothing of a nested one that has succeeded', 'rollbackTransaction', false],
    ])('%s before it ends', async (_kind, end, fails) => {
      const handler: Handler = (manager) =>
        manager.transaction(async (outer) => {
          let going: Promise<unknown> | undefined;
          const whole = outer.transaction(async (inner) => {
            await insert(inner, 'nested');
            going = beside(inner.queryRunner!, 'beside', end).catch(() => undefined);
            await sleep(10);
            if (fails) throw FAILURE;
          });
          await whole.catch(() => undefined);
          await going;
        });
      const { status } = await send(handler, keyed);
      expect([status, await marks()]).toEqual([500, []]);
    });
  });

  it('is refused without a key when two of them have begun at once', async () => {
    const handler: Handler = (manager) =>
      manager.transaction(async ({ queryRunner }) => {
        const sides = ['commitTransaction', 'rollbackTransaction'] as const;
        await Promise.allSettled(sides.map((end) => beside(queryRunner!, end, end)));
      });
    const { status } = await send(handler, false);
    expect([status, await marks()]).toEqual([500, []]);
    expect(messages()).toContain('have begun or ended at once');
  });

  it.each<[string, Handler, string]>([
    ['another one has written', (outer) => insert(outer, 'beside'), 'INSERT INTO marks'],
    [
      'a nested one has written',
      (outer) => outer.transaction((inner) => insert(inner, 'beside')),
      'a nested transaction',
    ],
  ])('is refused with a key when its function undoes what %s meanwhile', async (_who, work, what) => {
    const handler: Handler = (manager) =>
      manager.transaction(async (outer) => {
        const undone = beside(outer.queryRunner!, 'lost', 'rollbackTransaction');
        await Promise.all([undone, sleep(10).then(() => work(outer))]);
      });
    const { status } = await send(handler, true);
    expect([status, await marks()]).toEqual([500, []]);
    expect(messages()).toContain(`${what}, which the same query runner had written meanwhile`);
  });
});
