import { AsyncResource } from 'node:async_hooks';
import type { EntityManager, QueryRunner } from 'typeorm';
import { inBackground, lockAndQuery, UnitOfWork } from '../../src/platform';
import { waitFor } from '../../src/platform/testing';
import { type Handler, handlers, insert, useHandlers } from '../support/modules/handlers';

const FAILURE = new Error('fails');

/** Calls work of a transaction, by code that began before the transaction or that isn't of it. */
type Elsewhere = <T>(work: () => Promise<T>) => Promise<T>;

/** Each is made where the transaction hasn't begun yet. */
const ELSEWHERE: [name: string, make: () => Elsewhere][] = [
  [
    'a promise from before',
    () => {
      let go: (work: () => Promise<unknown>) => void;
      const done = new Promise<() => Promise<unknown>>((resolve) => (go = resolve)).then((work) => work());
      return (work) => (go(work), done as ReturnType<typeof work>);
    },
  ],
  [
    'an AsyncResource, as those of listeners and of interceptors',
    () => {
      const resource = new AsyncResource('before');
      return (work) => resource.runInAsyncScope(work);
    },
  ],
  ['work in the background', () => (work) => inBackground(work)],
  ['a unit of work of its own', () => (work) => new UnitOfWork().run(work)],
];

describe('A transaction of which other code writes a part', () => {
  const { marks, send, sql, api } = useHandlers();

  describe.each(ELSEWHERE)('by %s', (_name, make) => {
    it.each<[string, (manager: EntityManager) => Promise<unknown>]>([
      ['a statement', (manager) => insert(manager, 'a')],
      ['a nested transaction', (manager) => manager.transaction((inner) => insert(inner, 'a'))],
    ])('has it all, and waits for nothing: %s', async (_kind, write) => {
      const stored: Handler = async (manager) => {
        const elsewhere = make();
        await manager.transaction((own) => elsewhere(() => write(own)));
      };
      expect((await send(stored)).status).toBe(201);
      expect(await marks()).toEqual(['a']);

      const undone: Handler = async (manager) => {
        const elsewhere = make();
        await manager.transaction(async (own) => {
          await elsewhere(() => write(own).catch(() => insert(own, 'b')));
          throw FAILURE;
        });
      };
      await sql('TRUNCATE marks');
      expect((await send(undone)).status).toBe(500);
      expect(await marks()).toEqual([]);
    });

    it.each([false, true])('is undone alone if it is a nested one that fails, with a key: %s', async (keyed) => {
      const handler: Handler = (manager) => {
        const elsewhere = make();
        return manager.transaction(async (outer) => {
          await insert(outer, 'outer');
          const nested = outer.transaction(async (inner) => {
            await elsewhere(() => insert(inner, 'lost'));
            throw FAILURE;
          });
          await nested.catch(() => undefined);
          await insert(outer, 'after');
        });
      };
      expect((await send(handler, keyed)).status).toBe(201);
      expect(await marks()).toEqual(['after', 'outer']);
    });
  });

  it.each([false, true])('may be begun by hand in a function, nested as well, with a key: %s', async (keyed) => {
    const begin = (runner: QueryRunner) => runner.connect().then(() => runner.startTransaction());
    const handler: Handler = async (manager) => {
      const runner = manager.dataSource.createQueryRunner();
      await begin(runner);
      await insert(runner.manager, 'outer');
      await begin(runner);
      await insert(runner.manager, 'lost');
      await runner.query('SELECT * FROM marks FOR UPDATE');
      await runner.rollbackTransaction();
      await insert(runner.manager, 'after');
      await runner.commitTransaction();
      await runner.release();
    };
    expect((await send(handler, keyed)).status).toBe(201);
    expect(await marks()).toEqual(['after', 'outer']);
  });

  it('may be opened in one function and used in another one', async () => {
    const handler: Handler = async (manager) => {
      let end = () => {};
      const ended = new Promise<void>((resolve) => (end = resolve));
      let whole: Promise<unknown> | undefined;
      const own = await new Promise<EntityManager>((resolve) => {
        whole = manager.transaction(async (begun) => {
          resolve(begun);
          await ended;
        });
      });
      await insert(own, 'a');
      end();
      await whole;
    };
    expect((await send(handler)).status).toBe(201);
    expect(await marks()).toEqual(['a']);
  });

  it('ends without a nested one that never does', async () => {
    const handler: Handler = (manager) =>
      manager.transaction(async (outer) => {
        await insert(outer, 'outer');
        await new Promise((_resolve, reject) => {
          void outer.transaction(() => new Promise(() => reject(FAILURE)));
        });
      });
    expect((await send(handler)).status).toBe(500);
    expect(await marks()).toEqual([]);
  });

  it('ends when its connection is lost in a nested one', async () => {
    const handler: Handler = (manager) =>
      manager.transaction(async (outer) => {
        const [{ pid }] = await outer.query<{ pid: number }[]>('SELECT pg_backend_pid() AS pid');
        await outer.transaction(async (inner) => {
          await sql(`SELECT pg_terminate_backend(${pid})`);
          await insert(inner, 'lost');
        });
      });
    expect((await send(handler)).status).toBe(503);
    expect(await marks()).toEqual([]);
  });

  it('ends when its client has gone, and so do statements that are sent together', async () => {
    const refused: string[] = [];
    const client = new AbortController();
    const handler: Handler = (manager) =>
      manager.transaction(async (outer) => {
        client.abort();
        await waitFor(() => UnitOfWork.current()!.cancelled !== undefined);
        const note = (error: Error) => refused.push(error.message);
        await lockAndQuery(outer, 'marks', 'SELECT 1;').catch(note);
        await outer.transaction((inner) => insert(inner, 'lost')).catch(note);
      });
    handlers.set('gone', handler);
    const asked = fetch(`${api.url}/api/v1/handlers/gone`, { method: 'POST', signal: client.signal });
    await expect(asked).rejects.toThrow('aborted');
    await waitFor(() => refused.length === 2);
    expect([refused, await marks()]).toEqual([['The client has gone', 'The client has gone'], []]);
  });
});
