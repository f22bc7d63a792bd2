import { type EntitySubscriberInterface, type EntityTarget } from 'typeorm';
import { type ListQuery, paginate } from '../../src/platform';
import type { Position } from '../../src/platform/lists/cursor';
import { CURSORS } from '../../src/platform/lists/list-query';
import { Columned, Dated, Hideable, Listening, Name, Person, Secret, told, Watched } from './entities';
import { type Row, useRowHelpers } from './row-helpers';
import { Article, Remark } from './related-entities';

describe('The helpers for rows do what TypeORM is documented to do with', () => {
  const { scratch, manager, insert, read, update, remove, listsOf } = useRowHelpers();

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
});
