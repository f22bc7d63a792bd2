import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Pool } from 'pg';
import type { EntityManager } from 'typeorm';
import { lockAndQuery, UnitOfWork } from '../../src/platform';
import { waitFor } from '../../src/platform/testing';
import { type Handler, handlers, insert, useHandlers } from '../support/modules/handlers';

const FAILURE = new Error('fails');

describe('A transaction in trouble', () => {
  const { api, sql, marks, messages, send, database } = useHandlers();

  const expectRefused = async (handler: Handler, keyed = true) => {
    const { status } = await send(handler, keyed);
    expect([status, await marks()]).toEqual([500, []]);
  };

  describe('of a request with a key', () => {
    it('gives its connection back when its client has gone, and its handler goes on', async () => {
      const ended: string[] = [];
      for (let time = 0; time < 2; time++) {
        const name = randomUUID();
        const client = new AbortController();
        handlers.set(name, async (manager) => {
          await insert(manager, name);
          client.abort();
          await waitFor(() => UnitOfWork.current()!.cancelled !== undefined);
          await insert(manager, `${name} again`).finally(() => ended.push(name));
        });
        const headers = { 'Idempotency-Key': name };
        const asked = fetch(`${api.url}/api/v1/handlers/${name}`, { method: 'POST', headers, signal: client.signal });
        await expect(asked).rejects.toThrow('aborted');
      }
      await waitFor(() => ended.length === 2, 10_000);
      expect(await marks()).toEqual([]);
    });

    it.each([
      "SET LOCAL app.tenant = '5'; INSERT INTO marks VALUES ('lost')",
      "INSERT INTO marks VALUES ('lost') RETURNING set_config('app.tenant', '5', true)",
      "WITH tenant AS MATERIALIZED (SELECT set_config('app.tenant', '5', true)) INSERT INTO marks SELECT 'lost' FROM tenant",
    ])('refuses a write that would be undone together with a setting: %s', async (text) => {
      await expectRefused((manager) => manager.query(text));
      expect(messages()).toContain('alone in a statement');
    });

    it.each([
      '/* /* nested */ */ COMMIT',
      "SELECT '/*'; /* ' /* ; */ */ COMMIT",
      'SELECT 1 AS a$b$; COMMIT; SELECT 2 AS a$b$',
    ])('is refused when a comment or a name hides the end of its transaction: %s', async (text) => {
      await expectRefused((manager) => manager.query(text));
      expect(messages()).toContain('dataSource.transaction()');
    });

    it('takes back a setting of a read, and of a statement that sets it alone', async () => {
      const tenants = async (manager: EntityManager, text: string) => {
        await manager.query(text);
        return manager.query<object[]>("SELECT coalesce(current_setting('app.tenant', true), '') AS tenant");
      };
      for (const text of ["SET LOCAL app.tenant = '5'", "SELECT set_config('app.tenant', '5', true), (SELECT 1)"]) {
        const { status, body } = await send((manager) => tenants(manager, text), true);
        expect([status, body.data]).toEqual([201, { result: [{ tenant: '' }] }]);
      }
    });

    it('stays failed when another manager has a statement after the failure', async () => {
      await expectRefused((manager) =>
        manager.transaction(async (inner) => {
          await manager.query('SELECT 1');
          await insert(inner, 'important');
          await Promise.allSettled([inner.query('SELECT 1 / 0'), manager.query('SELECT 2')]);
        }),
      );
    });

    it('is refused when it goes back to a savepoint before the write of another manager', async () => {
      await expectRefused((manager) =>
        manager.transaction(async (inner) => {
          await inner.query('SAVEPOINT before');
          await insert(manager, 'of another');
          await inner.query('ROLLBACK TO SAVEPOINT before');
        }),
      );
    });

    it('is not held up by COPY as a text', async () => {
      const { status } = await send((manager) => manager.query('COPY marks FROM STDIN'), true);
      // As any statement that was cancelled.
      expect(status).toBe(503);
      expect(messages()).toContain('COPY from stdin failed');
    });

    it('ends when a subscriber fails before each rollback', async () => {
      let calls = 0;
      const subscriber = {
        beforeTransactionRollback: () => {
          calls++;
          throw FAILURE;
        },
      };
      const { subscribers } = database();
      subscribers.push(subscriber);
      try {
        const leave: Handler = async (manager) => {
          const runner = database().createQueryRunner();
          await runner.startTransaction();
          await insert(runner.manager, 'left');
          await insert(manager, 'beside').catch(() => undefined);
          await runner.release();
        };
        await expectRefused(leave);
        expect(calls).toBeLessThan(5);
      } finally {
        subscribers.splice(subscribers.indexOf(subscriber), 1);
      }
    });
  });

  it.each([false, true])('whose backend was killed does not wait for its answers, with a key: %s', async (keyed) => {
    const { status, body } = await send(
      (manager) =>
        manager.transaction(async (inner) => {
          const [{ pid }] = await inner.query<{ pid: number }[]>('SELECT pg_backend_pid() AS pid');
          const sleeping = `SELECT FROM pg_stat_activity WHERE pid = ${pid} AND wait_event = 'PgSleep'`;
          const gone = once((database().driver as unknown as { master: Pool }).master, 'remove');
          const failed = inner.query('SELECT pg_sleep(60)').catch(() => undefined);
          await waitFor(async () => (await sql(sleeping)).length === 1);
          await sql(`SELECT pg_terminate_backend(${pid})`);
          await Promise.all([failed, gone]);
        }),
      keyed,
    );
    // Otherwise the time limit would end it: `The request took too long`.
    expect([status, body.error?.message]).toEqual([503, 'The service is unavailable, try again later']);
  });

  it.each([false, true])('reads what a setting before has set, awaited or not, with a key: %s', async (keyed) => {
    const { body } = await send(
      (manager) =>
        manager.transaction(async (inner) => {
          const [, tenants] = await Promise.all([
            inner.query("SET LOCAL app.tenant = '5'"),
            inner.query<object[]>("SELECT coalesce(current_setting('app.tenant', true), 'none') AS tenant"),
          ]);
          return tenants;
        }),
      keyed,
    );
    expect(body.data).toEqual({ result: [{ tenant: '5' }] });
  });

  it('keeps nothing of a branch that goes on while it is rolled back', async () => {
    const refused: unknown[] = [];
    const both: Handler = (manager) =>
      manager.transaction(async (inner) => {
        let fail: () => void;
        const failing = new Promise((_resolve, reject) => (fail = () => reject(FAILURE)));
        const going = async () => {
          for (let row = 0; row < 60; row++) {
            await insert(inner, `row ${row}`).catch((error: unknown) => refused.push(error));
            if (row === 2) fail();
          }
        };
        await Promise.all([failing, going()]);
      });
    await send((manager) => both(manager).catch(() => undefined));
    expect(await marks()).toEqual([]);
    expect(String(refused[0])).toContain('was used after its transaction had ended');
  });

  it('goes on after a nested one that has failed beside a lock', async () => {
    for (let steps = 0; steps < 4; steps++) {
      const { status } = await send((manager) =>
        manager.transaction(async (outer) => {
          await insert(outer, `outer ${steps}`);
          await outer
            .transaction(async (inner) => {
              const failing = inner.query('SELEKT');
              const locked = failing.catch(async () => {
                for (let step = 0; step < steps; step++) await Promise.resolve();
                await lockAndQuery(inner, 'marks', 'SELECT 1');
              });
              await Promise.all([failing, locked]);
            })
            .catch(() => undefined);
        }),
      );
      expect([steps, status, status === 201 ? '' : messages().slice(-900)]).toEqual([steps, 201, '']);
    }
    expect(await marks()).toHaveLength(4);
  });

  it.each(['COMMIT', 'commit', 'COMMIT;', 'END', 'COMMIT WORK', 'SELECT 1; COMMIT'])(
    'that has failed is not committed by hand: %s',
    async (text) => {
      const commit: Handler = async () => {
        const runner = database().createQueryRunner();
        try {
          await runner.query('BEGIN');
          await insert(runner.manager, 'lost');
          await runner.query('SELECT 1 / 0').catch(() => undefined);
          await runner.query(text);
        } finally {
          await runner.query('ROLLBACK');
          await runner.release();
        }
      };
      await expectRefused(commit, false);
    },
  );

  it('may be undone and begun anew in one text that commits', async () => {
    const { status } = await send(async () => {
      const runner = database().createQueryRunner();
      await runner.query('BEGIN');
      await runner.query("ROLLBACK; BEGIN; INSERT INTO marks VALUES ('kept'); COMMIT");
      await runner.release();
    });
    expect([status, await marks()]).toEqual([201, ['kept']]);
  });
});
