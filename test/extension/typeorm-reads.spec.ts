import { DataSource } from 'typeorm';
import { times } from '../../src/platform/testing';
import { useTestApi } from '../support/test-api';
import { Book, BookAuthor, ClosureGenre, PathGenre, SetGenre } from '../support/modules/library';
import { LibraryModule } from '../support/modules/library.module';
import { TECHNIQUES } from '../support/modules/read-techniques';

/** Milliseconds; less than the stream of rows takes. */
const LIMIT = 3_000;

describe('TypeORM, as its documentation shows it, reads in a handler', () => {
  const api = useTestApi({ imports: [LibraryModule], settings: { REQUEST_TIMEOUT: String(LIMIT) } });

  beforeAll(async () => {
    const database = api.app.nest.get(DataSource);
    await database.synchronize();
    const authors = await database.manager.save(BookAuthor, [{ name: 'Ada' }, { name: 'Bob' }]);
    const books = times(5, (index) => ({
      title: 'ABCDE'[index],
      pages: 10 * (index + 1),
      printed_on: index === 3 ? null : `2026-01-0${index + 1}`,
      tags: [index % 2 === 0 ? 'even' : 'odd'],
      details: { cover: index % 2 === 0 ? 'soft' : 'hard' },
      author_id: authors[index % 2].id,
      burntAt: index === 4 ? new Date() : null,
    }));
    await database.manager.save(Book, books);
    for (const entity of [PathGenre, ClosureGenre, SetGenre]) {
      const trees = database.getTreeRepository<PathGenre>(entity);
      const fiction = await trees.save(trees.create({ name: 'fiction' }));
      const science = await trees.save(trees.create({ name: 'science fiction', parent: fiction }));
      await trees.save(trees.create({ name: 'crime', parent: fiction }));
      await trees.save(trees.create({ name: 'space opera', parent: science }));
    }
  });

  it.each(Object.keys(TECHNIQUES))('%s', async (technique) => {
    const answers = await Promise.all(times(3, () => api.get(`/library/by/${encodeURIComponent(technique)}`)));
    for (const { status, body } of answers) {
      expect([technique, status]).toEqual([technique, 200]);
      expect(body.data.result).toEqual(TECHNIQUES[technique][1]);
    }
  });

  it.each(['path', 'closure', 'set'])('trees of the kind %s', async (kind) => {
    const { data } = (await api.get(`/library/trees/${kind}`)).body;
    expect(data).toMatchObject({
      roots: ['fiction'],
      descendants: 4,
      ancestors: ['fiction', 'science fiction', 'space opera'],
    });
    expect(data.tree).toEqual(
      expect.arrayContaining([
        ['science fiction', ['space opera']],
        ['crime', []],
      ]),
    );
  });

  it('a stream of rows, for as long as its route may take', async () => {
    const started = performance.now();
    const { status, text, headers } = await api.get('/library/export', { Accept: 'text/csv' });
    expect([status, text]).toEqual([200, 'A\nB\nC\nD\n']);
    expect(headers.get('content-type')).toContain('text/csv');
    expect(performance.now() - started).toBeGreaterThan(LIMIT);
  });

  it('a stream that takes longer than its route may ends without having told that it is complete', async () => {
    const ended = await api.get('/library/short-export', { Accept: 'text/csv' }).then(
      ({ status }) => status,
      (error: Error) => error.message,
    );
    expect(['terminated', 503]).toContain(ended);
    expect((await api.get('/library/by/Not')).status).toBe(200);
  });
});
