import { DataSource } from 'typeorm';
import { type Answer, atOnce, countStatuses, expectError, times } from '../../src/platform/testing';
import { useTestApi } from '../support/test-api';
import { NoteLine, NoteTag, NotesModule, StickyNote } from '../support/modules/sticky-notes';

const CHANGES = [
  ...['helper', 'save', 'save-of-a-part', 'save-by-the-manager', 'save-of-several', 'save-in-a-transaction'],
  ...['save-without-a-transaction', 'save-after-an-insert', 'update', 'update-by-id', 'builder', 'increment', 'touch'],
  ...['locked-and-raw', 'locked-and-upsert', 'tags'],
];
const NO_CHANGES = ['save-of-nothing', 'nothing', 'no-columns', 'line'];
const REFUSED = ['raw', 'raw-with', 'raw-in-a-with', 'raw-in-a-transaction'];
const UPSERTS = ['upsert', 'or-update', 'raw-upsert'];
const REMOVALS = ['helper', 'remove', 'soft-remove', 'delete', 'delete-by-id', 'soft-delete'];

describe('A precondition of a change', () => {
  const api = useTestApi({ imports: [NotesModule] });
  const notes = () => api.repository(StickyNote);
  const tagOf = ({ headers }: Answer) => headers.get('etag');

  beforeAll(async () => {
    const database = api.app.nest.get(DataSource);
    const tables = ['note_tags', 'sticky_notes', 'note_lines', 'jottings', 'sticky_notes_tags_note_tags'];
    const builder = database.driver.createSchemaBuilder();
    const { upQueries } = await builder.log();
    for (const { query } of upQueries) {
      if (tables.some((table) => query.includes(`"${table}"`))) await database.query(query);
    }
    for (const table of ['sticky_notes', 'note_lines']) {
      await database.query(
        `CREATE TRIGGER ${table}_touch BEFORE UPDATE ON ${table} FOR EACH ROW EXECUTE FUNCTION touch_row()`,
      );
    }
    await database.getRepository(NoteTag).save({ text: 'a tag' });
  });

  async function aNote(): Promise<string> {
    const { id, lines } = await notes().save({ title: 'as it was', lines: [{ text: 'a line' }] });
    // Its version is its own.
    await api.repository(NoteLine).update(lines[0].id, { text: 'another line' });
    return `/sticky-notes/${id}`;
  }

  it.each(CHANGES)('is honoured by %s, which answers with what is stored', async (way) => {
    const path = await aNote();
    const before = await api.get(path);
    for (const [name, tag] of [
      ['If-Match', '"77"'],
      ['If-None-Match', '"1"'],
      ['If-None-Match', '*'],
    ]) {
      const refused = await api.with({ [name]: tag }).patch(`${path}/${way}`, { title: 'changed' });
      expectError(refused, 'PRECONDITION_FAILED');
      expect(tagOf(refused)).toBe('"1"');
    }
    expect((await api.get(path)).body.data).toEqual(before.body.data);

    const changed = await api.with({ 'If-Match': '"77", "1"' }).patch(`${path}/${way}`, { title: 'changed' });
    expect([changed.status, tagOf(changed)]).toEqual([200, '"2"']);
    const after = await api.get(path);
    expect(tagOf(after)).toBe('"2"');
    expect(changed.body.data).toEqual(after.body.data);
    expect(after.body.data.updated_at > before.body.data.updated_at).toBe(true);
  });

  it.each(CHANGES.filter((way) => way.startsWith('save')))(
    'need not be there: %s answers with what is stored',
    async (way) => {
      const path = await aNote();
      const changed = await api.patch(`${path}/${way}`, { title: 'changed' });
      expect([changed.status, tagOf(changed)]).toEqual([200, '"2"']);
      expect(changed.body.data).toEqual((await api.get(path)).body.data);
    },
  );

  it.each(CHANGES)('lets one of many win who change a row at once by %s', async (way) => {
    const path = await aNote();
    const guarded = api.with({ 'If-Match': '"1"' });
    const answers: Answer[] = [];
    await atOnce(times(8, String), async (title) => {
      answers.push(await guarded.patch(`${path}/${way}`, { title }));
    });
    expect(countStatuses(answers)).toEqual({ 200: 1, 412: 7 });
    expect(tagOf(await api.get(path))).toBe('"2"');
  });

  it.each(NO_CHANGES)('is honoured by %s, which leaves the row as it is', async (way) => {
    const path = await aNote();
    const refused = await api.with({ 'If-Match': '"77"' }).patch(`${path}/${way}`, { title: 'changed' });
    expectError(refused, 'PRECONDITION_FAILED');
    expect(tagOf(refused)).toBe('"1"');
    const accepted = await api.with({ 'If-Match': '"1"' }).patch(`${path}/${way}`, { title: 'changed' });
    expect([accepted.status, tagOf(accepted)]).toEqual([200, '"1"']);
  });

  it.each(REFUSED)('is not passed over by %s: it fails, and the log says what to do', async (way) => {
    const path = await aNote();
    api.app.log.splice(0);
    const refused = await api.with({ 'If-Match': '"1"' }).patch(`${path}/${way}`, { title: 'changed' });
    expectError(refused, 'INTERNAL_ERROR');
    expect(JSON.stringify(api.app.log)).toContain("doesn't compare the version that If-Match or If-None-Match names");
    expect(JSON.stringify(api.app.log)).toContain('Use updateRow()');
    expect((await api.get(path)).body.data.title).toBe('as it was');
    // Without one there is nothing to honour.
    expect((await api.patch(`${path}/${way}`, { title: 'changed' })).body.data.title).toBe('changed');
  });

  it.each(UPSERTS)('is not passed over by %s, and the log says what to do instead', async (way) => {
    const path = await aNote();
    api.app.log.splice(0);
    expectError(await api.with({ 'If-Match': '"1"' }).patch(`${path}/${way}`, { title: 'changed' }), 'INTERNAL_ERROR');
    const log = JSON.stringify(api.app.log);
    expect(log).toContain("An upsert of StickyNote may change a stored row, and doesn't compare the version");
    expect(log).toContain('Find the row first. If it exists, use updateRow() or save() on it, else insert it.');
    expect((await api.get(path)).body.data.title).toBe('as it was');
    expect((await api.patch(`${path}/${way}`, { title: 'changed' })).body.data.title).toBe('changed');
  });

  it.each(REMOVALS)('is honoured by %s', async (way) => {
    const path = await aNote();
    const refused = await api.with({ 'If-Match': '"77"' }).delete(`${path}/${way}`);
    expectError(refused, 'PRECONDITION_FAILED');
    expect(tagOf(refused)).toBe('"1"');
    expect((await api.get(path)).status).toBe(200);
    expect((await api.with({ 'If-Match': '"1"' }).delete(`${path}/${way}`)).status).toBe(204);
    expect(expectError(await api.get(path), 'NOT_FOUND').message).toBe('Sticky note not found');
  });

  it('is not passed over by a statement in SQL that deletes', async () => {
    const path = await aNote();
    expectError(await api.with({ 'If-Match': '"1"' }).delete(`${path}/raw`), 'INTERNAL_ERROR');
    expect((await api.get(path)).status).toBe(200);
  });

  it('finds no row of a table without versions in the way', async () => {
    const path = await aNote();
    const answer = await api.with({ 'If-Match': '"1"' }).patch(`${path}/raw-elsewhere`, { title: 'changed' });
    expect([answer.status, tagOf(answer)]).toEqual([200, '"2"']);
  });

  it.each(['helper', 'save', 'touch', 'tags', 'no-columns'])('comes after 404 in %s', async (way) => {
    const answer = await api.with({ 'If-Match': '"1"' }).patch(`/sticky-notes/999999/${way}`, { title: 'x' });
    expectError(answer, 'NOT_FOUND');
  });
});
