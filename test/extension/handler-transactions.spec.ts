import { randomUUID } from 'node:crypto';
import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { Controller, Injectable, Module, Param, Post } from '@nestjs/common';
import { EventEmitter2, EventEmitterModule, OnEvent } from '@nestjs/event-emitter';
import type { Pool, PoolClient } from 'pg';
import { DataSource, type EntityManager } from 'typeorm';
import { Idempotent, KeyedIsolation, Public } from '../../src/platform';
import { query } from '../support/databases';
import { type Answer, useTestApi } from '../support/test-api';
import { waitFor } from '../support/wait-for';

type Handler = (manager: EntityManager) => Promise<unknown>;

const handlers = new Map<string, Handler>();
const listened: Promise<unknown>[] = [];

@Controller('handlers')
class HandlersController {
  constructor(private readonly database: DataSource) {}

  @Post(':name')
  @Public()
  @Idempotent()
  run(@Param('name') name: string): Promise<object> {
    return this.handle(name);
  }

  @Post('serializable/:name')
  @Public()
  @Idempotent()
  @KeyedIsolation('SERIALIZABLE')
  runSerializable(@Param('name') name: string): Promise<object> {
    return this.handle(name);
  }

  private async handle(name: string): Promise<object> {
    const result = await handlers.get(name)!(this.database.manager);
    return { result: result ?? null };
  }
}

@Injectable()
class AuditListener {
  constructor(private readonly database: DataSource) {}

  @OnEvent('made', { async: true })
  onMade(name: string): Promise<unknown> {
    const work = this.database.transaction((manager) => insert(manager, `audit of ${name}`));
    listened.push(work);
    return work;
  }
}

@Module({
  imports: [EventEmitterModule.forRoot()],
  controllers: [HandlersController],
  providers: [AuditListener],
})
class HandlersModule {}

const insert = (manager: EntityManager, name: string) => manager.query('INSERT INTO marks (name) VALUES ($1)', [name]);

describe('What a handler does in transactions', () => {
  const POOL_SIZE = 3;
  const api = useTestApi({ settings: { DATABASE_POOL_SIZE: String(POOL_SIZE) }, imports: [HandlersModule] });
  const sql = (text: string) => query(api.app.databaseUrl, text);
  let database: DataSource;

  beforeAll(async () => {
    database = api.app.nest.get(DataSource);
    await sql('CREATE TABLE marks (name text PRIMARY KEY)');
  });

  beforeEach(() => sql('TRUNCATE marks'));

  /** The pool is whole, nobody is inside of a transaction, and what others write stays. */
  afterEach(async () => {
    const { master } = database.driver as unknown as { master: Pool };
    await waitFor(() => master.idleCount === master.totalCount && master.waitingCount === 0);
    // The server is told a little later.
    await waitFor(async () => (await sql(IDLE_IN_TRANSACTION)).length === 0);
    const names = Array.from({ length: 2 * POOL_SIZE }, () => randomUUID() as string);
    const answers = await Promise.all(names.map((name) => send((manager) => insert(manager, name))));
    expect(answers.map(({ status }) => status)).toEqual(names.map(() => 201));
    expect(await marks()).toEqual(expect.arrayContaining(names));
  });

  const marks = async () => (await sql('SELECT name FROM marks ORDER BY name')).map(({ name }) => name as string);
  const messages = () => api.app.log.map(({ err, msg }) => `${(err as Error)?.message} ${String(msg)}`).join('\n');

  function send(handler: Handler, keyed = false, path = '/handlers'): Promise<Answer> {
    const name = randomUUID();
    handlers.set(name, handler);
    return api.post(`${path}/${name}`, undefined, keyed ? { 'Idempotency-Key': name } : {});
  }

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
      const start = (name: string) => outside.push(database.transaction((manager) => insert(manager, name)));
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
          const runner = database.createQueryRunner();
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
        const runner = database.createQueryRunner();
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
      const runner = database.createQueryRunner();
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
      const runner = database.createQueryRunner();
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

  describe('with a key', () => {
    it('is one transaction, so its repetition does it once', async () => {
      const name = randomUUID();
      handlers.set(name, (manager) => manager.transaction((inner) => insert(inner, name)));
      const answers = [1, 2].map(() => api.post(`/handlers/${name}`, undefined, { 'Idempotency-Key': name }));

      const statuses = (await Promise.all(answers)).map(({ status }) => status).sort();
      expect([
        [201, 201],
        [201, 409],
      ]).toContainEqual(statuses);
      expect(await marks()).toEqual([name]);
    });

    it.each([
      "INSERT INTO marks (name) VALUES ('one of many'); COMMIT",
      "INSERT INTO marks (name) VALUES (E'it\\'s'); /* all; of it */ END; SELECT 1",
      'SELECT 1; ROLLBACK; BEGIN',
    ])('is refused when it ends its transaction among other statements: %s', async (text) => {
      const answer = await send(async (manager) => {
        await insert(manager, 'effect');
        await manager.query(text);
      }, true);

      expect(answer.status).toBe(500);
      expect(messages()).toContain("BEGIN, COMMIT and ROLLBACK can't be sent to it as statements");
      expect(await marks()).toEqual([]);
    });

    it('may send several statements that only speak of an end', async () => {
      const { status } = await send(async (manager) => {
        await manager.query(
          `INSERT INTO marks (name) VALUES ('a; COMMIT'), ('it''s; END'), (E'\\'; ABORT'); -- ; COMMIT
           DO $body$ BEGIN PERFORM 1; END $body$; SELECT 1 AS "; ROLLBACK"; /* ; ABORT */ SELECT 2;`,
        );
      }, true);

      expect(status).toBe(201);
      expect(new Set(await marks())).toEqual(new Set(['a; COMMIT', "it's; END", "'; ABORT"]));
    });

    it('leaves nothing behind when it fails, whatever was committed in it', async () => {
      const answer = await send(async (manager) => {
        await insert(manager, 'alone');
        await manager.transaction((inner) => insert(inner, 'committed'));
        throw new Error('The handler fails');
      }, true);

      expect(answer.status).toBe(500);
      expect(await marks()).toEqual([]);
    });

    it('is refused when another manager wrote inside of a transaction that was then rolled back', async () => {
      const answer = await send(async (manager) => {
        const failing = manager.transaction(async () => {
          await insert(manager, 'attempt');
          throw new Error('This fails');
        });
        await failing.catch(() => undefined);
      }, true);

      expect(answer.status).toBe(500);
      expect(messages()).toContain('INSERT INTO marks was written by another manager');
      expect(await marks()).toEqual([]);
    });

    it('is refused when it asks for another isolation level, and has it where the route says so', async () => {
      const handler: Handler = (manager) =>
        manager.transaction('SERIALIZABLE', async (inner) => {
          const [{ level }] = await inner.query<{ level: string }[]>(
            "SELECT current_setting('transaction_isolation') AS level",
          );
          return level;
        });

      expect((await send(handler, true)).status).toBe(500);
      expect(messages()).toContain("@KeyedIsolation('SERIALIZABLE')");
      expect((await send(handler, true, '/handlers/serializable')).body.data.result).toBe('serializable');
      expect((await send(handler, false)).body.data.result).toBe('serializable');
    });

    it('has what it sets in a transaction for no longer than that', async () => {
      const zones: string[] = [];
      const look = async (manager: EntityManager) => {
        const [{ zone, tenant }] = await manager.query<{ zone: string; tenant: string }[]>(
          "SELECT current_setting('TimeZone') AS zone, coalesce(current_setting('app.tenant', true), '') AS tenant",
        );
        zones.push(`${zone} ${tenant}`.trim());
      };
      const { status } = await send(async (manager) => {
        await look(manager);
        await manager.transaction(async (inner) => {
          await inner.transaction((innermost) => innermost.query("SET LOCAL TIME ZONE 'Asia/Tokyo'"));
          await inner.query("SELECT set_config('app.tenant', $1, true)", ['7']);
          await look(inner);
        });
        await look(manager);
      }, true);

      expect(status).toBe(201);
      expect(zones).toEqual([zones[0], 'Asia/Tokyo 7', zones[0]]);
    });
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

const IDLE_IN_TRANSACTION = `SELECT query FROM pg_stat_activity
  WHERE datname = current_database() AND state LIKE 'idle in transaction%'`;
