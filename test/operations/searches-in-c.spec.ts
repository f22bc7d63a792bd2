import { createDatabase, dropDatabase, query, RowLock, times } from '../../src/platform/testing';
import { TestApi } from '../support/test-api';
import { startApp } from '../support/test-app';
import { Fixtures } from '../support/fixtures';

const WARNING = /locale \(LC_CTYPE\) knows no letters beyond ASCII/;

/** A cluster that initdb has made without a locale has such databases. */
describe('Searches in a database whose locale is C', () => {
  const server = process.env.TEST_SERVER_URL!;
  const name = `${process.env.TEST_DATABASE_PREFIX}_c_${process.pid}`;
  const api = new TestApi();

  beforeAll(async () => {
    await query(server, `CREATE DATABASE ${name} LOCALE_PROVIDER libc LOCALE 'C' TEMPLATE template0`);
    const url = new URL(server);
    url.pathname = `/${name}`;
    api.app = await startApp({ databaseUrl: url.href, settings: { SEARCH_CONNECTIONS: '3' } });
  });

  afterAll(async () => {
    await api.app?.stop();
    await dropDatabase(server, name);
  });

  const search = (text: string) => api.get(`/posts?search=${encodeURIComponent(text)}`);

  it('are told to the operator at the start', () => {
    expect(api.app.log.filter(({ msg }) => WARNING.test(String(msg)))).toHaveLength(1);
  });

  it('find what is written in the very case, and of ASCII any', async () => {
    await new Fixtures(api, await api.user()).post({ title: 'Привет Cup' });
    const totals = await Promise.all(
      ['Привет', 'привет', 'cUP'].map(async (text) => (await search(text)).body.pagination.total as number),
    );

    expect(totals).toEqual([1, 0, 1]);
  });

  it('come one after the other where no index helps, so that others have the rest of the connections', async () => {
    const lock = await RowLock.ofTable(api.app.databaseUrl, 'posts');
    const slow = times(3, () => search('привет'));
    await lock.awaitedBy(1);
    const quick = search('cups');
    await lock.awaitedBy(2);
    await lock.release();

    for (const answer of await Promise.all([...slow, quick])) expect(answer.status).toBe(200);
  });
});

describe('Searches in a database of another locale', () => {
  it('are nothing to be told of', async () => {
    const server = process.env.TEST_SERVER_URL!;
    const name = `${process.env.TEST_DATABASE_PREFIX}_utf_${process.pid}`;
    const app = await startApp({ databaseUrl: await createDatabase(server, name) });

    expect(app.log.filter(({ msg }) => WARNING.test(String(msg)))).toEqual([]);
    await app.stop();
    await dropDatabase(server, name);
  });
});
