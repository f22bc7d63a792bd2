import { randomUUID } from 'node:crypto';
import { Controller, Module, Param, Post } from '@nestjs/common';
import type { PoolClient } from 'pg';
import QueryStream from 'pg-query-stream';
import { DataSource, type EntityManager, type EntitySubscriberInterface, type TransactionCommitEvent } from 'typeorm';
import { afterCommit, Idempotent, inBackground, Public } from '../../src/platform';
import { query, waitFor } from '../../src/platform/testing';
import { Post as BlogPost } from '../../src/resources/posts/post.entity';
import { useTestApi } from '../support/test-api';

type Handler = (manager: EntityManager) => Promise<unknown>;

const handlers = new Map<string, Handler>();

@Controller('mails')
class MailsController {
  constructor(private readonly database: DataSource) {}

  @Post(':name')
  @Public()
  @Idempotent()
  async run(@Param('name') name: string): Promise<object> {
    await handlers.get(name)!(this.database.manager);
    return {};
  }
}

@Module({ controllers: [MailsController] })
class MailsModule {}

const insert = (manager: EntityManager, name: string) => manager.query('INSERT INTO mails (name) VALUES ($1)', [name]);

const fails = () => {
  throw new Error('This fails');
};

const failLater = () => Promise.resolve().then(fails);

describe('What waits for a commit', () => {
  const api = useTestApi({ imports: [MailsModule] });
  const sql = (text: string) => query(api.app.databaseUrl, text);
  const messages = () => api.app.log.map(({ err, msg }) => `${(err as Error)?.message} ${String(msg)}`).join('\n');
  let database: DataSource;
  let mails: string[] = [];

  beforeAll(async () => {
    database = api.app.nest.get(DataSource);
    await sql('CREATE TABLE mails (name text PRIMARY KEY)');
  });

  beforeEach(async () => {
    mails = [];
    await sql('TRUNCATE mails');
  });

  const mail = (name: string) => afterCommit(() => mails.push(name));
  const stored = async () => (await sql('SELECT name FROM mails ORDER BY name')).map(({ name }) => name as string);

  async function send(handler: Handler, keyed: boolean): Promise<number> {
    const name = randomUUID();
    handlers.set(name, handler);
    return (await api.post(`/mails/${name}`, undefined, keyed ? { 'Idempotency-Key': name } : {})).status;
  }

  const inRequest = (keyed: boolean) => (handler: Handler) => send(handler, keyed);
  const ways: [string, (handler: Handler) => Promise<unknown>][] = [
    ['in a request without a key', inRequest(false)],
    ['in a request with a key', inRequest(true)],
    ['in a job', (handler) => inBackground(() => handler(database.manager)).catch(() => 500)],
    ['in no unit of work', (handler) => handler(database.manager).catch(() => 500)],
  ];

  describe.each(ways)('%s', (_name, run) => {
    it('is called for what is committed, later than that', async () => {
      await run(async (manager) => {
        await manager.transaction(async (inner) => {
          await insert(inner, 'a');
          mail('a');
          expect(mails).toEqual([]);
        });
      });
      expect([await stored(), mails]).toEqual([['a'], ['a']]);
    });

    it('is not called for what is rolled back', async () => {
      const status = await run((manager) =>
        manager.transaction(async (inner) => {
          await insert(inner, 'a');
          mail('a');
          fails();
        }),
      );
      expect([status, await stored(), mails]).toEqual([500, [], []]);
    });

    it('is not called for a transaction whose failure is caught, nested or not', async () => {
      await run(async (manager) => {
        await manager.transaction(() => (mail('alone'), failLater())).catch(() => undefined);
        await manager.transaction(async (outer) => {
          await insert(outer, 'outer');
          mail('outer');
          await outer.transaction(() => Promise.resolve(mail('released')));
          await outer.transaction(() => (mail('nested'), failLater())).catch(() => undefined);
        });
        mail('behind');
      });
      expect([await stored(), mails.sort()]).toEqual([['outer'], ['behind', 'outer', 'released']]);
    });

    it('goes with the transaction of a query runner, whichever way that ends', async () => {
      await run(async (manager) => {
        for (const end of ['commitTransaction', 'rollbackTransaction'] as const) {
          const runner = manager.dataSource.createQueryRunner();
          await runner.connect();
          await runner.startTransaction();
          mail(end);
          await insert(runner.manager, end);
          expect(mails).not.toContain(end);
          await runner[end]();
          await runner.release();
        }
        mail('behind');
      });
      expect([await stored(), mails.sort()]).toEqual([['commitTransaction'], ['behind', 'commitTransaction']]);
    });

    it('goes with nested transactions of a query runner that is disposed of', async () => {
      await run(async (manager) => {
        const runner = manager.dataSource.createQueryRunner();
        for (const name of ['outer', 'nested', 'innermost']) {
          await runner.startTransaction();
          await insert(runner.manager, name);
          mail(name);
        }
        await runner[Symbol.asyncDispose]();
      });
      const names = ['innermost', 'nested', 'outer'];
      expect([await stored(), mails.sort()]).toEqual([names, names]);
    });

    it('is not called where a query runner is disposed of whose nested transaction has failed', async () => {
      const status = await run(async (manager) => {
        const runner = manager.dataSource.createQueryRunner();
        for (const name of ['outer', 'nested']) {
          await runner.startTransaction();
          await insert(runner.manager, name);
          mail(name);
        }
        await runner.query('SELECT 1 / 0').catch(() => undefined);
        await runner[Symbol.asyncDispose]();
      });
      expect([status, await stored(), mails]).toEqual([500, [], []]);
    });

    it('belongs to its own of two transactions beside each other', async () => {
      await run(async (manager) => {
        const side = (name: string) =>
          manager.transaction(async (inner) => {
            await insert(inner, name);
            mail(name);
            if (name === 'bad') fails();
          });
        await Promise.allSettled([side('good'), side('bad')]);
      });
      expect([await stored(), mails]).toEqual([['good'], ['good']]);
    });

    it('fails for itself alone', async () => {
      await run(async (manager) => {
        await manager.transaction(async (inner) => {
          await insert(inner, 'a');
          afterCommit(() => Promise.reject(new Error('No mail server')));
          afterCommit(fails);
          mail('a');
        });
      });
      await waitFor(() => messages().includes('No mail server'));
      expect([await stored(), mails]).toEqual([['a'], ['a']]);
    });
  });

  it('is refused where a transaction was begun elsewhere that it may belong to', async () => {
    const status = await send(async (manager) => {
      const runner = manager.dataSource.createQueryRunner();
      const begin = async () => {
        await runner.connect();
        await runner.startTransaction();
      };
      await begin();
      try {
        mail('a');
      } finally {
        await runner.rollbackTransaction();
        await runner.release();
      }
    }, false);
    expect([status, mails]).toEqual([500, []]);
    expect(messages()).toContain('Call startTransaction() in the function that calls afterCommit()');
  });

  describe('by a subscriber', () => {
    const told: string[] = [];
    const subscriber: EntitySubscriberInterface = {
      async afterTransactionCommit({ manager }: TransactionCommitEvent) {
        const rows = await sql('SELECT name FROM mails');
        // It may use the manager that it is given.
        await manager.query('SELECT 1');
        told.push(`commit of ${rows.length}`);
      },
      afterTransactionRollback() {
        told.push('rollback');
      },
    };

    beforeAll(() => database.subscribers.push(subscriber));
    beforeEach(() => told.splice(0));
    afterAll(() => database.subscribers.splice(database.subscribers.indexOf(subscriber), 1));

    it.each([false, true])('it sees what is committed, with a key: %s', async (keyed) => {
      const status = await send((manager) => manager.transaction((inner) => insert(inner, 'a')), keyed);
      expect(status).toBe(201);
      // The request itself is a transaction too when it has a key.
      expect(told).toEqual(keyed ? ['commit of 1', 'commit of 1'] : ['commit of 1']);
    });

    it('it is told of the rollback of what was released, in a request with a key', async () => {
      const status = await send(async (manager) => {
        await manager.transaction((inner) => insert(inner, 'a'));
        fails();
      }, true);
      expect([status, await stored()]).toEqual([500, []]);
      expect(told).toEqual(['rollback', 'rollback']);
    });
  });
});

describe('What a connection that is shared by a key can not do', () => {
  const api = useTestApi({ imports: [MailsModule] });
  const connected = async (manager: EntityManager) =>
    (await manager.dataSource.createQueryRunner().connect()) as PoolClient;
  const techniques: [string, string, Handler][] = [
    ['stream()', '@TakesNoKey', (manager) => manager.createQueryBuilder(BlogPost, 'post').stream()],
    [
      'a stream of a cursor',
      'a stream or a cursor',
      async (manager) => (await connected(manager)).query(new QueryStream('SELECT 1')),
    ],
    ['a callback', 'gives a promise', async (manager) => (await connected(manager)).query('SELECT 1', () => undefined)],
    ['LISTEN', 'has no on()', async (manager) => (await connected(manager)).on('notification', () => undefined)],
  ];

  it.each(techniques)('%s is refused with words, and the process lives on', async (name, words, handler) => {
    handlers.set(name, handler);
    const path = `/mails/${encodeURIComponent(name)}`;
    const { status } = await api.post(path, undefined, { 'Idempotency-Key': randomUUID() });
    // Jest fails the test in which Node tells of a rejection that nobody handles.
    await new Promise(setImmediate);

    expect(status).toBe(500);
    expect(api.app.log.map(({ err }) => (err as Error)?.message).join('\n')).toContain(words);
  });
});
