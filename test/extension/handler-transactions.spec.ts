import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { EventEmitter2 } from '@nestjs/event-emitter';
import type { PoolClient } from 'pg';
import { query, waitFor } from '../../src/platform/testing';
import { useTestApi } from '../support/test-api';
import { useHandlers, HandlersModule, handlers, insert, listened } from '../support/modules/handlers';

describe('What a handler does in transactions', () => {
  const { api, marks, messages, send, database } = useHandlers();

  describe.each([
    ['without a key', false],
    ['with a key', true],
  ])('%s', (_name, keyed) => {
    it('is stored when it does not await it', async () => {
      const outside: Promise<unknown>[] = [];
      const { status } = await send(async (manager) => {
        await insert(manager, 'effect');
        outside.push(manager.transaction((inner) => insert(inner, 'not awaited')));
      }, keyed);
      await Promise.all(outside);

      expect(status).toBe(201);
      expect(await marks()).toEqual(['effect', 'not awaited']);
    });

    it('is stored when a listener, a timer or an immediate does it', async () => {
      const outside: Promise<unknown>[] = [];
      const start = (name: string) => outside.push(database().transaction((manager) => insert(manager, name)));
      const { status } = await send(async (manager) => {
        await manager.transaction((inner) => insert(inner, 'effect'));
        api.app.nest.get(EventEmitter2).emit('made', 'effect');
        setImmediate(start, 'immediate');
        setTimeout(start, 1, 'timer');
        setTimeout(start, 60, 'late timer');
      }, keyed);
      await waitFor(() => outside.length === 3 && listened.length > 0);
      await Promise.all([...outside, ...listened.splice(0)]);

      expect(status).toBe(201);
      expect(await marks()).toEqual(['audit of effect', 'effect', 'immediate', 'late timer', 'timer']);
    });

    it('sees in two transactions beside each other only their own half, and one may fail', async () => {
      const { status, body } = await send(async (manager) => {
        const side = (name: string, fails: boolean) =>
          manager.transaction(async (inner) => {
            await insert(inner, `${name} 1`);
            await turnOfTheLoop();
            await insert(inner, `${name} 2`);
            const rows = await inner.query<{ name: string }[]>('SELECT name FROM marks');
            if (fails) throw new Error('This side fails');
            return rows.filter((row) => !row.name.startsWith(name)).length;
          });
        const [one, other] = await Promise.allSettled([side('a', false), side('b', true)]);
        return [one.status, other.status, (one as PromiseFulfilledResult<number>).value];
      }, keyed);

      expect([status, body.data.result]).toEqual([201, ['fulfilled', 'rejected', 0]]);
      expect(await marks()).toEqual(['a 1', 'a 2']);
    });

    it('goes by two query runners beside each other, which begin without connecting first', async () => {
      const { status, body } = await send(async () => {
        const side = async (name: string, fails: boolean) => {
          const runner = database().createQueryRunner();
          await runner.startTransaction();
          await insert(runner.manager, `${name} 1`);
          await turnOfTheLoop();
          await insert(runner.manager, `${name} 2`);
          if (fails) await runner.rollbackTransaction();
          else await runner.commitTransaction();
          await runner.release();
          return [runner.isReleased, runner.isTransactionActive];
        };
        return Promise.all([side('a', false), side('b', true), side('c', false)]);
      }, keyed);

      expect([status, body.data.result]).toEqual([201, Array(3).fill([true, false])]);
      expect(await marks()).toEqual(['a 1', 'a 2', 'c 1', 'c 2']);
    });

    it('may go on after a statement that failed', async () => {
      const { status } = await send(async (manager) => {
        await insert(manager, 'one');
        await insert(manager, 'one').catch(() => insert(manager, 'two'));
      }, keyed);

      expect(status).toBe(201);
      expect(await marks()).toEqual(['one', 'two']);
    });

    it('is refused when a query runner is released inside of its transaction', async () => {
      const answer = await send(async () => {
        const runner = database().createQueryRunner();
        await runner.startTransaction();
        await insert(runner.manager, 'forgotten');
        await runner.release();
      }, keyed);

      expect(answer.status).toBe(500);
      expect(messages()).toContain('A query runner was released inside of its transaction');
      expect(await marks()).toEqual([]);
    });

    it('is refused when a transaction is to be committed in which a statement has failed', async () => {
      const answer = await send(
        (manager) =>
          manager.transaction(async (inner) => {
            await insert(inner, 'lost');
            await inner.query('SELECT 1 / 0').catch(() => undefined);
          }),
        keyed,
      );

      expect(answer.status).toBe(500);
      expect(messages()).toContain('in which a statement had failed');
      expect(await marks()).toEqual([]);
    });

    it('is refused when it sends BEGIN itself', async () => {
      const answer = await send(async (manager) => {
        await manager.query('BEGIN');
      }, keyed);

      expect(answer.status).toBe(500);
      expect(messages()).toContain('dataSource.transaction()');
    });
  });

  it('gives a connection back with nothing on it, though nobody awaited its statements', async () => {
    const { status } = await send(async () => {
      const runner = database().createQueryRunner();
      await runner.connect();
      void runner.query('BEGIN').catch(() => undefined);
      void insert(runner.manager, 'nobody waits').catch(() => undefined);
      await runner.release();
    });

    expect(status).toBe(201);
    expect(await marks()).toEqual([]);
  });

  it('leaves no listener on a connection whose transaction was committed while a statement ran', async () => {
    const { status, body } = await send(async () => {
      const runner = database().createQueryRunner();
      const client = (await runner.connect()) as PoolClient;
      const listeners = () => ['drain', 'end', 'error'].map((event) => client.listenerCount(event));
      await runner.startTransaction();
      const before = listeners();
      void client.query('SELECT 1');
      await runner.commitTransaction();
      const after = listeners();
      await runner.release();
      return { before, after };
    });

    const { before, after } = body.data.result as Record<string, number[]>;
    expect(status).toBe(201);
    expect(after).toEqual(before);
  });
});

describe('A transaction that its handler never ends', () => {
  const api = useTestApi({ settings: { REQUEST_TIMEOUT: '2000' }, imports: [HandlersModule] });

  beforeAll(() => query(api.app.databaseUrl, 'CREATE TABLE marks (name text PRIMARY KEY)'));

  it.each([
    ['the handler answers', false],
    ['the handler waits for another one', true],
  ])('is 503 with a key, and the log says why: %s', async (name, waits) => {
    api.app.log.splice(0);
    handlers.set(name, async ({ dataSource }) => {
      const runner = dataSource.createQueryRunner();
      await runner.connect();
      await runner.startTransaction();
      await insert(runner.manager, name);
      if (waits) await dataSource.manager.query('SELECT 1');
    });
    const { status } = await api.post(`/handlers/${encodeURIComponent(name)}`, {}, { 'Idempotency-Key': name });
    const told = () => JSON.stringify(api.app.log.map(({ err, msg }) => [(err as Error)?.message, msg]));
    await waitFor(() => /did not happen in time/.test(told()));

    expect(status).toBe(503);
    expect(told()).toContain('end it by commitTransaction() or rollbackTransaction()');
  });
});
