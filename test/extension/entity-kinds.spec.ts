import { DataSource, type DataSourceOptions, type Logger, QueryFailedError } from 'typeorm';
import { paginate, readRow } from '../../src/platform';
import { reasonsAgainstPlain } from '../../src/platform/rows/plain-reasons';
import { useTestApi } from '../support/test-api';
import {
  Accessed,
  Document,
  Elsewhere,
  Hideable,
  Listening,
  Measured,
  SchemedEntity,
  Ticket,
  Watched,
} from './entities';
import { useRowHelpers } from './row-helpers';
import { Article, Film, Label, Medium, Photo, Remark, Title, Translation } from './related-entities';

describe('The helpers for rows do what TypeORM is documented to do with', () => {
  const { scratch, insert, read, update, remove, listsOf } = useRowHelpers();

  it('schemas', async () => {
    const { id } = await insert(Elsewhere, { title: 'One' });
    await update(Elsewhere, id, { title: 'Two' });
    expect(await read(Elsewhere, id)).toMatchObject({ title: 'Two', version: 2 });
    for (const data of await listsOf(Elsewhere)) expect(data).toMatchObject([{ title: 'Two' }]);
    await remove(Elsewhere, id);
    expect(await scratch.repository(Elsewhere).count()).toBe(0);
  });

  it('eager relations and cascades', async () => {
    const { id, labels } = await insert(Article, { title: 'One', labels: [{ text: 'a' }, { text: 'b' }] as Label[] });
    expect(labels.map(({ text }) => text).sort()).toEqual(['a', 'b']);
    const changed = await update(Article, id, { labels: labels.filter(({ text }) => text === 'b') });
    expect(changed.labels).toMatchObject([{ text: 'b' }]);
    expect(changed.version).toBe(2);
    expect(await read(Article, id)).toMatchObject({ labels: [{ text: 'b' }] });
    for (const data of await listsOf(Article, {}, { order: 'desc' }))
      expect(data[0].labels).toMatchObject([{ text: 'b' }]);
  });

  it('ids of relations that are read along', async () => {
    const [one, other] = [await insert(Article, { title: 'One' }), await insert(Article, { title: 'Other' })];
    const { id, article } = await insert(Translation, { article_id: one.id });
    expect(article.title).toBe('One');
    const changed = await update(Translation, id, { article_id: other.id });
    expect(changed).toMatchObject({ article_id: other.id, article: { title: 'Other' }, version: 2 });
    const back = await update(Translation, id, { article: one });
    expect(back).toMatchObject({ article_id: one.id, article: { title: 'One' }, version: 3 });
  });

  it('accessors', async () => {
    const made = await insert(Accessed, { title: '  One ' });
    expect(made.title).toBe('One');
    const copy = Object.assign(new Accessed(), { title: ' Two ' });
    expect(await update(Accessed, made.id, copy)).toMatchObject({ title: 'Two', version: 2 });
    expect(await scratch.stored('accessed', 'title', made.id)).toBe('Two');
    expect((await read(Accessed, made.id)).title).toBe('Two');
  });

  it('lazy relations', async () => {
    const article = await insert(Article, { title: 'Two' });
    const { id } = await insert(Remark, { text: 'x', article: Promise.resolve(article) });
    expect(await (await read(Remark, id)).article).toMatchObject({ title: 'Two' });
    for (const data of await listsOf(Remark, {}, { order: 'desc' }))
      expect(await data[0].article).toMatchObject({ title: 'Two' });
  });

  it('several entities in one table', async () => {
    const { id } = await insert(Photo, { title: 'p', size: '3x4' });
    const { id: film } = await insert(Film, { title: 'f', minutes: 90 });
    await expect(read(Photo, film)).rejects.toThrow('Could not find any entity');
    await expect(update(Photo, film, { title: 'x' })).rejects.toThrow('Could not find any entity');
    await expect(remove(Photo, film)).rejects.toThrow('Could not find any entity');
    expect(await update(Photo, id, { title: 'P' })).toBeInstanceOf(Photo);
    expect(await read(Medium, film)).toBeInstanceOf(Film);
    for (const data of await listsOf(Photo)) expect(data).toMatchObject([{ id, title: 'P', size: '3x4' }]);
    for (const data of await listsOf(Medium)) expect(data.map((one) => one.constructor)).toEqual([Photo, Film]);
  });

  it('views', async () => {
    const { id } = await insert(Watched, { title: 'seen' });
    expect(await read(Title, id)).toMatchObject({ bigTitle: 'SEEN' });
    for (const data of await listsOf(Title, {}, { order: 'desc' })) expect(data[0]).toMatchObject({ bigTitle: 'SEEN' });
  });

  it('entities of a schema instead of a class', async () => {
    const { id } = await insert(SchemedEntity, { dueOn: '2026-02-28' });
    expect(await update(SchemedEntity, id, { dueOn: '2026-03-01' })).toMatchObject({ version: 2 });
    expect(await read(SchemedEntity, id)).toEqual({
      id,
      dueOn: '2026-03-01',
      version: 2,
      updated_at: expect.any(Date),
    });
    for (const data of await listsOf(SchemedEntity)) expect(data).toMatchObject([{ dueOn: '2026-03-01' }]);
  });

  it('columns that are computed: by a query, or by the database', async () => {
    const repository = scratch.repository(Measured);
    const { id } = await insert(Measured, { title: 'One' });
    expect(await read(Measured, id)).toMatchObject({ letters: 3, lowered: 'one' });
    expect(await update(Measured, id, { title: 'Three' })).toMatchObject({ version: 2, letters: 5, lowered: 'three' });
    for (const data of await listsOf(Measured)) expect(data).toMatchObject([{ letters: 5, lowered: 'three' }]);
    await remove(Measured, id);
    expect(await repository.count({ withDeleted: true })).toBe(0);
  });

  it('columns that are computed, by the repository', async () => {
    const repository = scratch.repository(Measured);
    const row = await repository.save(repository.create({ title: 'One' }));
    expect(row).toMatchObject({ version: 1, lowered: 'one' });
    row.title = 'Three';
    expect(await repository.save(row)).toMatchObject({ version: 2, lowered: 'three' });
    expect(await repository.softRemove(row)).toMatchObject({ version: 3, deleted_at: expect.any(Date) });
    expect(await repository.recover(row)).toMatchObject({ version: 4, deleted_at: null });
    expect(await repository.findOneBy({ id: row.id })).toMatchObject({ version: 4, letters: 5, lowered: 'three' });
    await repository.remove(row);
    expect(await repository.count({ withDeleted: true })).toBe(0);
  });

  it('its log of statements', async () => {
    const { id } = await insert(Hideable, { fullTitle: 'logged' });
    const logged: string[] = [];
    const logQuery = (query: string) => void logged.push(query);
    const nothing = () => undefined;
    const logger: Logger = {
      ...{ logQuery, log: nothing, logMigration: nothing },
      ...{ logQueryError: nothing, logQuerySlow: nothing, logSchemaBuild: nothing },
    };
    const options = { ...scratch.database.options, entities: [Hideable], logging: true, logger } as DataSourceOptions;
    const database = await new DataSource(options).initialize();
    await readRow(database.manager, Hideable, id);
    await paginate(database.getRepository(Hideable), {}, {});
    await database.destroy();
    expect(logged.filter((query) => query.includes('full_title')).length).toBeGreaterThanOrEqual(2);
  });

  it('errors', async () => {
    await insert(Label, { text: 'taken' });
    const { id } = await insert(Label, { text: 'free' });
    for (const work of [() => insert(Label, { text: 'taken' }), () => update(Label, id, { text: 'taken' })]) {
      await expect(work()).rejects.toThrow(QueryFailedError);
    }
  });

  it('UUIDs that the database makes, without an extension', async () => {
    const ticket = await scratch.repository(Ticket).save({ seat: '1a' });
    const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
    expect(ticket).toEqual({ id: expect.stringMatching(UUID), token: expect.stringMatching(UUID), seat: '1a' });
    expect(await scratch.repository(Ticket).findOneBy({ id: ticket.id })).toEqual(ticket);
    const { upQueries } = await scratch.database.driver.createSchemaBuilder().log();
    expect(upQueries.filter(({ query }) => query.includes('tickets'))).toEqual([]);
  });

  it('ids that are given: no row is overwritten', async () => {
    await insert(Listening, { id: 77, title: 'One' });
    await expect(insert(Listening, { id: 77, title: 'Two' })).rejects.toThrow('duplicate key');
    expect(await read(Listening, 77)).toMatchObject({ title: 'One', version: 1 });
  });

  it('rows that are read together: each reader has its own', async () => {
    const values = { lines: [{ text: 'a' }], tags: ['x'], seal: Buffer.from('seal') };
    const { id } = await insert(Document, values);
    const change = (row: Document) => {
      row.lines[0].text = 'changed';
      row.tags.push('y');
      row.seal.fill(0);
      row.created_at.setFullYear(1999);
      row.version = 99;
    };
    const many = <T>(work: () => Promise<T>) => Promise.all(Array.from({ length: 5 }, work));
    const repository = scratch.repository(Document);
    const rows = await many(() => read(Document, id));
    const listed = (await many(() => paginate(repository, {}, {}))).map(({ data }) => data[0]);
    for (const [first, ...others] of [rows, listed]) {
      change(first);
      for (const other of others) {
        expect(other).toMatchObject({ ...values, version: 1 });
        expect(other.created_at.getFullYear()).toBeGreaterThan(2000);
      }
    }
    // Even one that changes it before the others go on.
    const early = await many(() => read(Document, id).then((row) => (change(row), row.tags.length)));
    expect(early).toEqual([2, 2, 2, 2, 2]);
  });
});

describe('The entities of this service', () => {
  const api = useTestApi();

  it('all take the statements of its own, which cost least', () => {
    const { entityMetadatas } = api.app.nest.get(DataSource);
    const resources = entityMetadatas.filter(({ columns }) => columns.some((one) => one.propertyName === 'version'));
    expect(resources.map(({ name }) => name)).toContain('User');
    for (const metadata of resources)
      expect([metadata.name, reasonsAgainstPlain(metadata)]).toEqual([metadata.name, []]);
  });
});
