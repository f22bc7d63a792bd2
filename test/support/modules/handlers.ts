import { randomUUID } from 'node:crypto';
import { Controller, Injectable, Module, Param, Post } from '@nestjs/common';
import { EventEmitterModule, OnEvent } from '@nestjs/event-emitter';
import type { Pool } from 'pg';
import { DataSource, type EntityManager } from 'typeorm';
import { Idempotent, Public } from '../../../src/platform';
import { KeyedIsolation } from '../../../src/platform/features';
import { type Answer, query, waitFor } from '../../../src/platform/testing';
import { useTestApi } from '../test-api';

export type Handler = (manager: EntityManager) => Promise<unknown>;

export const handlers = new Map<string, Handler>();
export const listened: Promise<unknown>[] = [];

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
export class HandlersModule {}

export const insert = (manager: EntityManager, name: string) =>
  manager.query('INSERT INTO marks (name) VALUES ($1)', [name]);

/** The application with these handlers, and a table `marks` that they write to. */
export function useHandlers() {
  const POOL_SIZE = 3;
  const api = useTestApi({ settings: { DATABASE_POOL_SIZE: String(POOL_SIZE) }, imports: [HandlersModule] });
  const sql = (text: string) => query(api.app.databaseUrl, text);
  const database = () => api.app.nest.get(DataSource);

  beforeAll(() => sql('CREATE TABLE marks (name text PRIMARY KEY)'));

  beforeEach(() => sql('TRUNCATE marks'));

  /** The pool is whole, nobody is inside of a transaction, and what others write stays. */
  afterEach(async () => {
    const { master } = database().driver as unknown as { master: Pool };
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

  return { api, sql, marks, messages, send, database };
}

const IDLE_IN_TRANSACTION = `SELECT query FROM pg_stat_activity
  WHERE datname = current_database() AND state LIKE 'idle in transaction%'`;
