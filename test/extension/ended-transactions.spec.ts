import { Controller, Get, HttpCode, Module, Param, Post } from '@nestjs/common';
import { DataSource, type EntityManager, QueryRunnerAlreadyReleasedError } from 'typeorm';
import { Idempotent, Public } from '../../src/platform';
import { Product } from '../../src/resources/products/product.entity';
import { aProduct } from '../support/builders';
import { useTestApi } from '../support/test-api';

const works: Record<string, (manager: EntityManager) => unknown> = {
  'query()': (manager) => manager.query('SELECT 1'),
  'find()': (manager) => manager.find(Product),
  'save()': (manager) => manager.save(Product, aProduct()),
  'save() of a repository': (manager) => manager.getRepository(Product).save(aProduct()),
  'insert()': (manager) => manager.insert(Product, aProduct()),
  'a query builder': (manager) => manager.createQueryBuilder(Product, 'product').getMany(),
  'transaction()': (manager) => manager.transaction((inside) => inside.query('SELECT 1')),
  'startTransaction()': (manager) => manager.queryRunner!.startTransaction(),
};

@Controller('ended')
@Public()
class EndedController {
  constructor(private readonly database: DataSource) {}

  @Get(':work')
  read(@Param('work') work: string): Promise<unknown> {
    return this.useLater(work);
  }

  @Post(':work')
  @HttpCode(200)
  @Idempotent()
  write(@Param('work') work: string): Promise<unknown> {
    return this.useLater(work);
  }

  @Get('lost/:work')
  lost(@Param('work') work: string): Promise<unknown> {
    return this.database.transaction(async (manager) => {
      const [{ pid }] = await manager.query<{ pid: number }[]>('SELECT pg_backend_pid() AS pid');
      await this.database.query('SELECT pg_terminate_backend($1, 10000)', [pid]);
      return { work: await works[work](manager) };
    });
  }

  private async useLater(work: string): Promise<unknown> {
    const ended = await this.database.transaction((manager) => Promise.resolve(manager));
    return { work: await works[work](ended) };
  }
}

@Module({ controllers: [EndedController] })
class EndedModule {}

describe('A manager whose transaction has ended', () => {
  const api = useTestApi({ imports: [EndedModule] });
  const names = Object.keys(works).map((name) => [name]);

  it.each(names)('is 500, and the log says why: %s', async (name) => {
    const path = `/ended/${encodeURIComponent(name)}`;
    for (const ask of [
      () => api.get(path),
      () => api.post(path),
      () => api.post(path, undefined, { 'Idempotency-Key': name }),
    ]) {
      api.app.log.splice(0);
      const { status, body } = await ask();

      expect([status, body.error?.code]).toEqual([500, 'INTERNAL_ERROR']);
      expect(JSON.stringify(api.app.log)).toContain('was used after its transaction had ended');
    }
    expect(await api.repository(Product).count()).toBe(0);
  });

  it.each(names)('is 503 when its connection was lost meanwhile: %s', async (name) => {
    expect((await api.get(`/ended/lost/${encodeURIComponent(name)}`)).status).toBe(503);
  });

  it('throws what TypeORM documents', async () => {
    const database = api.app.nest.get(DataSource);
    const runner = database.createQueryRunner();
    await runner.release();

    await expect(runner.query('SELECT 1')).rejects.toBeInstanceOf(QueryRunnerAlreadyReleasedError);
    await expect(database.query('SELECT 1', [], runner)).rejects.toThrow('was used after its transaction had ended');
  });
});
