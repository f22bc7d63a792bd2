import {
  DataSource,
  type DataSourceOptions,
  type EntitySubscriberInterface,
  type EntityTarget,
  type Logger,
  type ObjectLiteral,
  QueryFailedError,
} from 'typeorm';
import {
  deleteRow,
  insertRow,
  type ListQuery,
  paginate,
  type PaginateOptions,
  readRow,
  updateRow,
} from '../../src/platform';
import type { Position } from '../../src/platform/lists/cursor';
import { CURSORS } from '../../src/platform/lists/list-query';
import { whyNotPlain } from '../../src/platform/rows/plain-entity';
import { useTestApi } from '../support/test-api';
import {
  Accessed,
  Article,
  Columned,
  Dated,
  Document,
  Elsewhere,
  entities,
  Film,
  Hideable,
  Label,
  Listening,
  Medium,
  Name,
  Person,
  Photo,
  Remark,
  SchemedEntity,
  Secret,
  Ticket,
  Title,
  told,
  Translation,
  Watched,
  WatchedSubscriber,
} from './entities';
import { useScratchDatabase } from './scratch-database';

type Row = ObjectLiteral & { id: number; version: number };

describe('The helpers for rows do what TypeORM is documented to do with', () => {
  const scratch = useScratchDatabase([...entities, SchemedEntity], [WatchedSubscriber]);
  const manager = () => scratch.database.manager;

  const insert = <E extends Row>(entity: EntityTarget<E>, values: Partial<E>) => insertRow(manager(), entity, values);
  const read = <E extends Row>(entity: EntityTarget<E>, id: number) => readRow(manager(), entity, id);
  const update = <E extends Row>(entity: EntityTarget<E>, id: number, values: Partial<E>) =>
    updateRow(manager(), entity, id, values);
  const remove = (entity: EntityTarget<Row>, id: number) => deleteRow(manager(), entity, id);

  /** Both ways that a list is read, and both versions. */
  async function listsOf<E extends Row>(
    entity: EntityTarget<E>,
    options: PaginateOptions<E> = {},
    query: ListQuery = {},
  ) {
    const repository = scratch.repository(entity);
    const cursors = { seal: () => 'cursor' };
    const pages = [
      await paginate(repository, query, options),
      await paginate(repository, query, { ...options, where: (builder) => builder.andWhere('true') }),
      await paginate(repository, { ...query, [CURSORS]: cursors }, options),
    ];
    return pages.map(({ data }) => data);
  }

  beforeEach(() => told.splice(0));

  it('listeners', async () => {
    const { id, slug, shout } = await insert(Listening, { title: 'One' });
    expect([slug, shout]).toEqual(['one', 'One!']);
    expect(await update(Listening, id, { title: 'Two' })).toMatchObject({ slug: 'two', shout: 'Two!', version: 2 });
    expect(await read(Listening, id)).toMatchObject({ shout: 'Two!' });
    for (const data of await listsOf(Listening)) expect(data).toMatchObject([{ shout: 'Two!' }]);
    await remove(Listening, id);
    expect(told).toEqual(['goodbye Two']);
    await expect(remove(Listening, id)).rejects.toThrow('Could not find any entity');
    await expect(update(Listening, id, { title: 'Three' })).rejects.toThrow('Could not find any entity');
  });

  it('subscribers', async () => {
    const { id } = await insert(Watched, { title: 'One' });
    await update(Watched, id, { title: 'Two' });
    await remove(Watched, id);
    expect(told.filter((line) => !line.startsWith('load'))).toEqual(['insert One', 'update One to Two', 'remove Two']);
    const { id: other } = await insert(Watched, { title: 'Three' });
    told.splice(0);
    await read(Watched, other);
    await listsOf(Watched);
    expect(told).toEqual(['load Three', 'load Three', 'load Three', 'load Three']);
  });

  it('a subscriber that comes later, as a provider of Nest does', async () => {
    const { id } = await insert(Hideable, { fullTitle: 'One' });
    const late: EntitySubscriberInterface<Hideable> = {
      listenTo: () => Hideable,
      beforeUpdate: ({ entity }) => void told.push(`update ${entity!.fullTitle}`),
      afterLoad: ({ fullTitle }) => void told.push(`load ${fullTitle}`),
    };
    scratch.database.subscribers.push(late);
    await read(Hideable, id);
    await update(Hideable, id, { fullTitle: 'Two' });
    scratch.database.subscribers.splice(scratch.database.subscribers.indexOf(late), 1);
    expect(new Set(told)).toEqual(new Set(['load One', 'update Two', 'load Two']));
    await read(Hideable, id);
    expect(told.at(-1)).toBe('load Two');
  });

  it('columns of versions and dates', async () => {
    const made = await insert(Dated, { title: 'One' });
    expect(made).toMatchObject({ revision: 1, version: 1, removedAt: null });
    const changed = await update(Dated, made.id, { title: 'Two' });
    expect(changed).toMatchObject({ revision: 2, version: 2, madeAt: made.madeAt });
    expect(changed.changedAt.getTime()).toBeGreaterThan(made.changedAt.getTime());
    const same = await update(Dated, made.id, { title: 'Two' });
    expect(same).toEqual(changed);
  });

  it.each([
    [Dated, 'title'],
    [Hideable, 'fullTitle'],
  ] as [EntityTarget<Row>, string][])('a renamed column that hides rows: %p', async (entity, attribute) => {
    const { id } = await insert(entity, { [attribute]: 'shown' });
    const { id: hidden } = await insert(entity, { [attribute]: 'hidden' });
    expect(await update(entity, hidden, { removedAt: new Date() })).toMatchObject({ removedAt: expect.any(Date) });
    for (const data of await listsOf(entity, {}, { sort: attribute, order: 'desc', size: 1 })) {
      expect(data).toMatchObject([{ id, [attribute]: 'shown' }]);
    }
    await expect(read(entity, hidden)).rejects.toThrow('Could not find any entity');
    await expect(update(entity, hidden, { [attribute]: 'x' })).rejects.toThrow('Could not find any entity');
    await expect(remove(entity, hidden)).rejects.toThrow('Could not find any entity');
  });

  it('embedded columns, of which a part may change', async () => {
    const { id, name } = await insert(Person, { name: { first: 'Ada', last: 'King' } });
    expect(name).toBeInstanceOf(Name);
    const changed = await update(Person, id, { name: { last: 'Lovelace' } as Name });
    expect(changed).toMatchObject({ name: { first: 'Ada', last: 'Lovelace' }, version: 2 });
    expect(await read(Person, id)).toMatchObject({ name: { first: 'Ada', last: 'Lovelace' } });
    for (const data of await listsOf(Person)) expect(data[0].name).toMatchObject({ first: 'Ada' });
  });

  it('embedded columns that a list is sorted by, with a cursor as well', async () => {
    for (const first of ['Zoe', 'Abe']) await insert(Person, { name: { first, last: 'x' } });
    const repository = scratch.repository(Person);
    const names = async (query: ListQuery) =>
      (await paginate(repository, query, {})).data.map(({ name }) => name.first);
    const all = await names({ sort: 'name.first', order: 'desc' });
    expect(all).toEqual([...all].sort().reverse());
    let position: Position | undefined;
    const walked: string[] = [];
    const seal = (next: Position) => {
      position = next;
      return 'cursor';
    };
    for (let page = 0; page < all.length; page++) {
      const cursors = { position, seal };
      walked.push(
        ...(await names({
          sort: 'name.first',
          order: 'desc',
          size: 1,
          [CURSORS]: { ...cursors, seal: (at) => (at.backwards ? 'back' : seal(at)) },
        })),
      );
    }
    expect(walked).toEqual(all);
  });

  it('transformers: what one encrypts is never stored as it is', async () => {
    const content = 'a text that nobody may read';
    const { id, content: returned } = await insert(Secret, { content, amount: 9_007_199_254_740_993n });
    expect(returned).toBe(content);
    const stored = () => scratch.stored('secrets', 'content', id);
    expect(await stored()).toMatch(/^[0-9a-f]{54}$/);
    expect(await read(Secret, id)).toMatchObject({ content, amount: 9_007_199_254_740_993n });
    await update(Secret, id, { content: 'another text' });
    expect(await stored()).toMatch(/^[0-9a-f]{24}$/);
    for (const data of await listsOf(Secret, { filter: { content: 'another text' } })) {
      expect(data).toMatchObject([{ id, content: 'another text' }]);
    }
    for (const data of await listsOf(Secret, { filter: { content: 'no text' } })) expect(data).toEqual([]);
  });

  it('renamed columns, columns that are not selected, and columns that are written once or later', async () => {
    const made = await insert(Columned, { dueOn: '2026-02-28', password: 'x', later: 'x', once: 'x' });
    expect(made).toMatchObject({ dueOn: '2026-02-28', later: null, once: 'x', note: 'as it was' });
    const { id } = made;
    const changed = await update(Columned, id, { dueOn: '2026-03-01', password: 'y', later: 'y', once: 'y' });
    expect(changed).toMatchObject({ dueOn: '2026-03-01', later: 'y', once: 'x' });
    const [[listed], ...others] = await listsOf(Columned, { filter: { dueOn: '2026-03-01' } }, { sort: 'dueOn' });
    expect(others).toEqual([[listed], [listed]]);
    for (const row of [made, changed, listed, await read(Columned, id)]) {
      expect(row).not.toHaveProperty('password');
      expect(row).not.toHaveProperty('due_on');
    }
    expect(await scratch.stored('columned', 'password', id)).toBe('y');
    for (const data of await listsOf(Columned, {}, { fields: ['dueOn'] })) {
      expect({ ...data[0] }).toEqual({ id, dueOn: '2026-03-01' });
    }
  });

  it('classes: rows are instances, which the manager takes back', async () => {
    const made = await insert(Columned, { note: 'x' });
    const row = await read(Columned, made.id);
    const [[listed]] = await listsOf(Columned, {}, { order: 'desc' });
    for (const one of [made, row, listed, await update(Columned, made.id, { note: 'x' })]) {
      expect(one).toBeInstanceOf(Columned);
      expect(one.summary).toBe(`${made.id}: x`);
    }
    row.note = 'y';
    await manager().save(row);
    expect(row).toMatchObject({ version: 2, summary: `${made.id}: y` });
  });

  it('attributes that are no columns: a list reads all that they may be made of', async () => {
    await insert(Columned, { note: 'z' });
    for (const data of await listsOf(Columned, {}, { fields: ['summary'], order: 'desc' })) {
      expect(data[0].summary).toMatch(/: z$/);
    }
  });

  it('attributes that are made of a relation', async () => {
    const article = await insert(Article, { title: 'with remarks' });
    await insert(Remark, { text: 'x', article: Promise.resolve(article) });
    const query = { fields: ['remark_ids'], order: 'desc', size: 1 };
    for (const data of await listsOf(Article, { include: { remarks: 'id' } }, query)) {
      expect(data).toMatchObject([{ title: 'with remarks', remarks: [{ text: 'x' }] }]);
    }
  });

  it('values that are null, in a filter', async () => {
    const { id } = await insert(Columned, { dueOn: null, note: 'without a date' });
    for (const data of await listsOf(Columned, { filter: { dueOn: null, note: 'without a date' } })) {
      expect(data).toMatchObject([{ id }]);
    }
  });

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
    expect(resources.map(({ name }) => name).sort()).toEqual(
      ['Comment', 'Order', 'Post', 'Product', 'Reply', 'Upload', 'User'].sort(),
    );
    for (const metadata of resources) expect([metadata.name, whyNotPlain(metadata)]).toEqual([metadata.name, []]);
  });
});
