import { Controller, Get, Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { DeclaredAccess } from '../../src/platform/auth/declared-access';
import { startApp } from '../support/test-app';
import { useTestApi } from '../support/test-api';
import { folderOf, sources, testSources } from '../support/sources';

const isPlatform = (path: string) => folderOf(path) === 'platform';
/** The resources that only the tests have: see `npm run resource -- remove --examples`. */
const examples = testSources.filter(({ path }) => path.startsWith('support/examples/'));

describe('The application', () => {
  const api = useTestApi();
  const database = () => api.app.nest.get(DataSource);

  it('says of every route who may call it', () => {
    const routes = api.app.nest.get(DeclaredAccess).routes();

    expect(routes.length).toBeGreaterThan(10);
    expect(routes.filter(({ access }) => access === undefined).map(({ name }) => name)).toEqual([]);
  });

  it('does not start with a route that does not say it', async () => {
    @Controller('forgotten')
    class ForgottenController {
      @Get()
      list(): void {}
    }
    @Module({ controllers: [ForgottenController] })
    class ForgottenModule {}

    await expect(startApp({ imports: [ForgottenModule], databaseUrl: api.app.databaseUrl })).rejects.toThrow(
      'GET forgotten (ForgottenController.list)',
    );
  });

  it('names no table of a resource in the platform', () => {
    const tables = database().entityMetadatas.flatMap(({ target, tableName }) =>
      [...sources, ...examples].some(
        ({ path, text }) => !isPlatform(path) && text.includes(`class ${(target as { name: string }).name} `),
      )
        ? [tableName]
        : [],
    );
    const named = new RegExp(`\\b(?:FROM|JOIN|INTO|UPDATE|TABLE|ON) (?:${tables.join('|')})\\b`);

    expect(tables).toEqual(expect.arrayContaining(['users', 'orders', 'order_items', 'uploads']));
    expect(tables).not.toContain('sessions');
    expect(sources.filter(({ path, text }) => isPlatform(path) && named.test(text)).map(({ path }) => path)).toEqual(
      [],
    );
  });
});
