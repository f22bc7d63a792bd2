import { AsyncResource } from 'node:async_hooks';
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import type { Client } from 'pg';
import type { BeforeQueryEvent, EntityManager } from 'typeorm';
import { lockName } from '../../src/platform';
import { type Handler, insert, useHandlers } from '../support/modules/handlers';

const FAILURE = new Error('fails');
const RUNS = Number(process.env.TRANSACTION_PROGRAMS ?? 60);
const REFUSAL = 'which the same query runner had written meanwhile';
const REFUSALS = new RegExp(`${REFUSAL}|have begun or ended at once|was released inside of its transaction`);

/** A transaction that waits before it begins and before each of its rows, and then ends. */
interface Plan {
  begins: number;
  rows: number[];
  fails?: 'by an error' | 'by a statement';
}

const pauses = fc.integer({ min: 0, max: 3 });
const plan: fc.Arbitrary<Plan> = fc.record({
  begins: pauses,
  rows: fc.array(pauses, { minLength: 1, maxLength: 3 }),
  fails: fc.constantFrom(undefined, 'by an error', 'by a statement'),
});

/** What the outer manager writes beside them: the pauses before, those of a hook before it is sent, and how it is written. */
const besides = fc.record({
  times: fc.integer({ min: 0, max: 6 }),
  held: pauses,
  by: fc.constantFrom<(keyof typeof WAYS)[]>('the manager', 'the connection'),
});

/** Transactions beside each other, what is written beside them, and the pauses of a hook before savepoints are made or ended. */
const program = fc.record({
  plans: fc.array(plan, { minLength: 1, maxLength: 3 }),
  beside: fc.array(besides, { maxLength: 2 }),
  controls: fc.record({ SAVEPOINT: pauses, RELEASE: pauses, ROLLBACK: pauses }),
});
type Control = keyof Program['controls'];
type Program = typeof program extends fc.Arbitrary<infer P> ? P : never;

const pause = async (times: number) => {
  for (let time = 0; time < times; time++) await setImmediate();
};

async function carryOut(manager: EntityManager, { begins, rows, fails }: Plan, name: string): Promise<string[]> {
  const names = rows.map((_pauses, index) => `${name}${index}`);
  await pause(begins);
  await manager.transaction(async (own) => {
    for (const [index, times] of rows.entries()) {
      await pause(times);
      await insert(own, names[index]);
    }
    if (fails === 'by a statement') await own.query('SELECT 1 / 0');
    if (fails) throw FAILURE;
  });
  return names;
}

/** The ways to write a row. */
const WAYS = {
  'the manager': insert,
  'the connection': async ({ queryRunner }: EntityManager, name: string) => {
    const connection = (await queryRunner!.connect()) as Client;
    await connection.query('INSERT INTO marks (name) VALUES ($1)', [name]);
  },
};

const failing = (manager: EntityManager, name: string) =>
  carryOut(manager, { begins: 0, rows: [0], fails: 'by an error' }, name).catch(() => undefined);

describe('Transactions beside each other on one manager', () => {
  const { marks, messages, send, database, sql } = useHandlers();

  /** Whatever fails: what is told is what is stored, or else all is refused. */
  async function expectToldTruly(
    around: (work: Handler) => Handler,
    { plans, beside, controls }: Program,
    keyed: boolean,
  ) {
    await sql('TRUNCATE marks');
    const held = new Map<unknown, number>(beside.map((one, index) => [`beside ${index}`, one.held]));
    const beforeQuery = ({ query, parameters }: BeforeQueryEvent) =>
      pause((parameters ? held.get((parameters as unknown[])[0]) : controls[query.split(' ')[0] as Control]) ?? 0);
    let told: string[] = [];
    const handler = around(async (manager) => {
      const written = beside.map(async ({ times, by }, index) => {
        await pause(times);
        await WAYS[by](manager, `beside ${index}`);
        return [`beside ${index}`];
      });
      const begun = plans.map((one, index) => carryOut(manager, one, `${index}.`));
      const fates = await Promise.allSettled([...begun, ...written]);
      told = fates.flatMap((fate) => (fate.status === 'fulfilled' ? fate.value : []));
    });
    database().subscribers.push({ beforeQuery });
    const { status } = await send(handler, keyed);
    database().subscribers.splice(-1);
    expect([status, await marks()]).toEqual(status === 201 ? [201, told.toSorted()] : [500, []]);
    if (keyed) expect(status).toBe(201);
    if (status !== 201) expect(messages()).toMatch(REFUSALS);
  }

  it.each<[string, boolean, (work: Handler) => Handler]>([
    ['nested', false, (work) => (manager) => manager.transaction(work)],
    ['nested, with a key', true, (work) => (manager) => manager.transaction(work)],
    ['nested twice', false, (work) => (manager) => manager.transaction((outer) => outer.transaction(work))],
  ])('never tell the opposite of what is stored: %s', async (_name, keyed, around) => {
    await fc.assert(
      fc.asyncProperty(program, (some) => expectToldTruly(around, some, keyed)),
      { numRuns: RUNS },
    );
  });

  it('are each undone alone with a key', async () => {
    const plans = (['by an error', undefined, 'by a statement', undefined] as const).map((fails) => ({
      begins: 0,
      rows: [0, 1],
      fails,
    }));
    const handler: Handler = (manager) =>
      manager.transaction((outer) =>
        Promise.allSettled(plans.map((one, index) => carryOut(outer, one, `${index}.`))).then(() => undefined),
      );
    expect((await send(handler, true)).status).toBe(201);
    expect(await marks()).toEqual(['1.0', '1.1', '3.0', '3.1']);
  });

  it('are all refused if they begin at once', async () => {
    const plans = [0, 1].map(() => ({ begins: 0, rows: [0] }));
    const handler: Handler = (manager) =>
      manager.transaction((outer) => Promise.all(plans.map((one, index) => carryOut(outer, one, `${index}.`))));
    const { status } = await send(handler);
    expect([status, await marks()]).toEqual([500, []]);
    expect(messages()).toContain('begun or ended at once');
  });

  it('are refused although one of them could not begin', async () => {
    const handler: Handler = (manager) =>
      manager.transaction(async (outer) => {
        await insert(outer, 'outer');
        const nested = () => outer.transaction((inner) => insert(inner, 'outer'));
        await Promise.allSettled([nested(), pause(1).then(nested)]);
        await nested().catch(() => undefined);
        await insert(outer, 'after');
      });
    const { status } = await send(handler);
    expect([status, await marks()]).toEqual([500, []]);
  });

  it.each(['Start', 'Commit', 'Rollback'].flatMap((end) => [`beforeTransaction${end}`, `afterTransaction${end}`]))(
    'may be those of a subscriber in another flow: %s',
    async (event) => {
      const handler: Handler = async (manager) => {
        let times = 0;
        const hook = AsyncResource.bind(({ manager: own }: { manager: EntityManager }) =>
          times++ === 0 ? own.transaction((inner) => insert(inner, 'hook')) : undefined,
        );
        const { subscribers } = database();
        try {
          await manager.transaction(async (outer) => {
            await insert(outer, 'outer');
            subscribers.push({ [event]: hook });
            await outer.transaction((inner) => insert(inner, 'nested'));
            await failing(outer, 'lost');
          });
        } finally {
          subscribers.splice(-1);
        }
      };
      const { status } = await send(handler);
      const names = await marks();
      expect(status === 201 ? names.filter((name) => name !== 'hook') : names).toEqual(
        status === 201 ? ['nested', 'outer'] : [],
      );
    },
  );

  it.each([
    [
      'between its statements',
      (outer: EntityManager) => Promise.all([failing(outer, 'lost'), pause(1).then(() => insert(outer, 'beside'))]),
    ],
    [
      'when its rollback begins',
      async (outer: EntityManager) => {
        const beforeTransactionRollback = AsyncResource.bind(() => insert(outer, 'beside'));
        const { subscribers } = database();
        subscribers.push({ beforeTransactionRollback });
        await failing(outer, 'lost');
        subscribers.splice(-1);
      },
    ],
  ])('are all refused if a nested one fails, and the outer one has written %s', async (_name, both) => {
    const { status } = await send((manager) => manager.transaction((outer) => both(outer).then(() => undefined)));
    expect([status, await marks()]).toEqual([500, []]);
    expect(messages()).toContain(`INSERT INTO marks, ${REFUSAL}`);
  });

  it.each<[string, (outer: EntityManager) => Promise<unknown>]>([
    ['of a name', (outer) => lockName(outer, 'beside')],
    ['of rows', (outer) => outer.query('SELECT * FROM marks FOR UPDATE')],
  ])('are all refused if a nested one fails, because the outer one would lose its lock %s', async (_name, lock) => {
    const { status } = await send((manager) =>
      manager.transaction((outer) => Promise.all([failing(outer, 'lost'), pause(1).then(() => lock(outer))])),
    );
    expect(status).toBe(500);
    expect(messages()).toContain(`a statement, ${REFUSAL}`);
  });
});
