import { DataSource } from 'typeorm';
import { expectError, times } from '../../src/platform/testing';
import { Document } from '../support/openapi';
import { useTestApi } from '../support/test-api';
import {
  BranchOffice,
  ClubMember,
  ClubMembersModule,
  Level,
  MemberTag,
  OldMember,
} from '../support/modules/club-members';

describe('A list of a team’s own', () => {
  const api = useTestApi({ imports: [ClubMembersModule] });
  const manager = () => api.app.nest.get(DataSource).manager;
  let ids: number[];
  let tagIds: number[];

  beforeAll(async () => {
    await api.app.nest.get(DataSource).synchronize();
    const offices = await manager().save(BranchOffice, [{ city: 'Bern' }, { city: 'Aachen' }]);
    const tags = await manager().save(MemberTag, [{ text: 'a' }, { text: 'b' }]);
    tagIds = tags.map(({ id }) => id);
    const members = times(6, (index) => ({
      name: `Member ${index % 3}`,
      active: index % 2 === 0,
      born_on: `200${index}-0${index + 1}-15`,
      joined_at: new Date(`2020-01-0${index + 1}T12:00:00Z`),
      level: index < 2 ? Level.GOLD : Level.SILVER,
      reference: `a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1${index}`,
      rate: index + 0.0625,
      office_id: offices[index % 2].id,
      tags: index === 0 ? tags : [],
      removedOn: index === 5 ? new Date() : null,
    }));
    ids = (await manager().save(ClubMember, members)).map(({ id }) => id);
    await manager().save(
      OldMember,
      times(5, (index) => ({ name: `Old ${index % 2}` })),
    );
  });

  const list = (path: string, version = 1) => api.get(`//api/v${version}/club-members${path}`);
  const shown = async (path: string, version = 1) => {
    const answer = await list(path, version);
    expect([path, answer.status]).toEqual([path, 200]);
    return (answer.body.data as { id: number }[]).map(({ id }) => ids.indexOf(id));
  };

  /** All pages of two, one after the other. */
  async function walk(path: string): Promise<object[]> {
    const items: object[] = [];
    for (let cursor = ''; ;) {
      const { status, body } = await list(`${path}${path.includes('?') ? '&' : '?'}size=2${cursor}`, 2);
      expect([path, status]).toEqual([path, 200]);
      items.push(...body.data);
      expect(items.length).toBeLessThan(20);
      if (body.pagination.next === null) return items;
      cursor = `&cursor=${body.pagination.next}`;
    }
  }

  it.each(['', '/filtered', '/tagged'])('hides what a renamed column says is deleted: %s', async (path) => {
    const expected = path === '/filtered' ? [0, 1] : [0, 1, 2, 3, 4];
    const search = path === '/tagged' ? '' : '&search=member';
    for (const query of ['?sort=id', '?sort=id&fields=id', '?sort=born_on', `?sort=rate${search}`]) {
      expect([query, await shown(`${path}${query}`)]).toEqual([query, expected]);
      expect([query, await shown(`${path}${query}`, 2)]).toEqual([query, expected]);
      const { pagination } = (await list(`${path}${query}&size=1`)).body;
      expect(pagination.total).toBe(expected.length);
    }
    const all = (await walk(`${path}?sort=name&order=desc`)) as { id: number }[];
    expect(all.map(({ id }) => ids.indexOf(id)).sort()).toEqual(expected);
  });

  it.each(['', '/tagged', '/with-tags'])('shows them to administrators, by `deleted=only`: %s', async (path) => {
    const admin = api.as(await api.admin());
    const search = path === '/tagged' ? '' : '&search=member';
    const since = '&updated_since=2020-01-01T00:00:00Z';
    for (const query of [
      '',
      '&fields=id',
      '&sort=born_on',
      `&sort=rate${search}`,
      since,
      '&updated_since=2100-01-01T00:00:00Z',
    ]) {
      const expected = query.includes('2100') ? [] : [{ id: ids[5] }];
      for (const version of [1, 2]) {
        const { body } = await admin.get(`//api/v${version}/club-members${path}?deleted=only${query}`);
        expect([query, body.data]).toMatchObject([query, expected]);
      }
      const { text } = await admin.get(`/club-members${path}?deleted=only${query}`, { Accept: 'application/x-ndjson' });
      const lines = text.split('\n').slice(0, -1);
      expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject(expected);
    }
    expect((await admin.get(`/club-members/filtered?deleted=only`)).body.data).toEqual([]);
    expectError(await list(`${path}?deleted=only`), 'VALIDATION_ERROR', { fields: { deleted: 'access' } });
  });

  it('needs neither dates nor a version', async () => {
    for (const query of ['?sort=name', '?search=old', '?fields=name&sort=name']) {
      expect([query, (await walk(`/old${query}`)).length]).toEqual([query, 5]);
      expect((await list(`/old${query}`)).body.pagination.total).toBe(5);
    }
  });

  it.each([
    ['active=true', [0, 2, 4]],
    ['active=false', [1, 3]],
    ['born_before=2002-03-15', [0, 1]],
    ['joined_since=2020-01-04T13:00:00%2B01:00', [3, 4]],
    ['joined_since=2020-01-04T12:00:00.001Z', [4]],
    ['level=GOLD', [0, 1]],
    ['reference=A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A12', [2]],
    ['rate_from=3.0625', [3, 4]],
    ['rate_from=-1.5', [0, 1, 2, 3, 4]],
    ['born_in_month=2', [1]],
    ['born_after=2003-12-31', [4]],
    ['other_than=a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a10', [1, 2, 3, 4]],
  ])('takes parameters of other types: %s', async (query, expected) => {
    for (const version of [1, 2]) expect(await shown(`?${query}`, version)).toEqual(expected);
    const all = (await walk(`?sort=name&${query}`)) as { id: number }[];
    expect(all.map(({ id }) => ids.indexOf(id)).sort()).toEqual(expected);
  });

  it.each([
    ['active=yes', 'active', 'boolean', 'must be true or false'],
    ['active=1', 'active', 'boolean', 'must be true or false'],
    ['active=', 'active', 'boolean', 'must be true or false'],
    ['born_before=2026-02-29', 'born_before', 'date', 'must be a day like 2026-01-31'],
    ['born_before=0000-01-01', 'born_before', 'date', 'must be a day like 2026-01-31'],
    ['born_before=2026-1-1', 'born_before', 'date', 'must be a day like 2026-01-31'],
    ['joined_since=2026-01-31', 'joined_since', 'moment', expect.stringContaining('2026-01-31T12:00:00Z')],
    ['joined_since=2026-01-31T12:00:00', 'joined_since', 'moment', expect.stringContaining('with a time zone')],
    ['joined_since=2026-02-30T12:00:00Z', 'joined_since', 'moment', expect.anything()],
    ['joined_since=2026-01-31T24:00:00Z', 'joined_since', 'moment', expect.anything()],
    ['joined_since=2026-01-31T12:00:00%2B25:00', 'joined_since', 'moment', expect.anything()],
    ['level=gold', 'level', 'enum', 'must be one of GOLD, SILVER'],
    ['reference=1', 'reference', 'uuid', 'must be a UUID'],
    ['rate_from=1e3', 'rate_from', 'decimal', 'must be a number from -10 to 99999 with at most 4 decimals'],
    ['rate_from=0.00001', 'rate_from', 'decimal', expect.anything()],
    ['rate_from=99999.5', 'rate_from', 'decimal', expect.anything()],
    ['rate_from=01', 'rate_from', 'decimal', expect.anything()],
    ['born_in_month=13', 'born_in_month', 'range', expect.anything()],
    ['born_in_month=x', 'born_in_month', 'range', expect.anything()],
    ['born_after=2003-13-01', 'born_after', 'iso', expect.anything()],
    ['other_than=1', 'other_than', 'uuid', expect.anything()],
    ['active=true&active=true', 'active', 'once', expect.anything()],
  ])('refuses parameters of other types with words: %s', async (query, field, rule, message) => {
    const { status, body } = await list(`?${query}`);
    expect([status, body.error?.code]).toEqual([400, 'VALIDATION_ERROR']);
    expect(body.error.fields).toContainEqual({ field, rule, message });
  });

  it('documents them', async () => {
    const document = new Document((await api.get('//docs/json')).body);
    const parameters = document.operations.find(({ name }) => name === 'GET /api/v1/club-members')!.spec.parameters;
    const schemas = Object.fromEntries(
      (parameters as { name: string; schema: object; required?: boolean }[]).map((one) => [one.name, one]),
    );
    expect(schemas.active).toMatchObject({ required: false, schema: { type: 'boolean' } });
    expect(schemas.born_before).toMatchObject({ required: false, schema: { type: 'string', format: 'date' } });
    expect(schemas.joined_since).toMatchObject({ required: false, schema: { type: 'string', format: 'date-time' } });
    expect(schemas.level).toMatchObject({ required: false, schema: { type: 'string', enum: ['GOLD', 'SILVER'] } });
    expect(schemas.reference).toMatchObject({ required: false, schema: { type: 'string', format: 'uuid' } });
    expect(schemas.rate_from).toMatchObject({ schema: { type: 'number', minimum: -10, maximum: 99_999 } });
    for (const { name, schema } of parameters) {
      for (const example of schema.examples ?? [])
        expect([name, document.violations(schema, example)]).toEqual([name, []]);
    }
  });

  it('keeps a cursor to its parameters', async () => {
    const { pagination } = (await list('?active=true&size=1', 2)).body;
    const other = await list(`?active=false&size=1&cursor=${pagination.next}`, 2);
    expectError(other, 'VALIDATION_ERROR', { fields: { cursor: 'cursor' } });
  });

  it.each(['name,born_on', 'name,-born_on', '-name', 'office.city', 'office_id', 'name;desc'])(
    'sorts by one attribute of its own: not by %s',
    async (sort) => {
      const { fields } = expectError(await list(`?sort=${sort}`), 'VALIDATION_ERROR');
      const message = 'must be one of id, name, born_on, rate, level; it is one attribute, and `order` its direction';
      expect(fields).toEqual([{ field: 'sort', rule: 'enum', message }]);
    },
  );

  it('shows what is made of an included relation, whatever its own name', async () => {
    for (const [query, keys] of [
      ['?fields=id,tag_ids', ['id', 'tag_ids']],
      ['?fields=tag_ids', ['tag_ids']],
    ] as const) {
      const [first] = (await list(`/tagged${query}&size=1`)).body.data;
      expect(Object.keys(first as object)).toEqual(keys);
      expect(first.tag_ids).toEqual(tagIds);
    }
    expect((await list('/tagged?fields=id,name&size=1')).body.data).toEqual([{ id: ids[0], name: 'Member 0' }]);
  });

  it.each([
    ['names', 'MemberName has no column for id, which a list needs'],
    ['joined', 'A list sorts ClubMember by office.city, which is none of its columns'],
    ['by-virtual', 'A list sorts ClubMember by letters, which'],
    ['wrongly-included', 'includes tag_ids, which is no relation of ClubMember; it has office, tags'],
    ['wrongly-ordered', 'sorts tags by name, which is no column of MemberTag'],
    ['wrongly-searched', 'searches tag_ids, which is no column of ClubMember'],
    ['wrongly-filtered/colour', 'filters by colour, which is no column of ClubMember'],
    ['wrongly-filtered/office', 'compares the relation office of ClubMember by an operator, which matches nothing: '],
    ['wrongly-kept', 'A list has the deleted rows of OldMember, which has no @DeleteDateColumn()'],
    ['untold', 'A list is filterable by updated_at, which is no such column of OldMember'],
  ])('is refused at the first call, with the reason: %s', async (path, reason) => {
    for (const version of [1, 2]) {
      const { log } = api.app;
      log.splice(0);
      expectError(await list(`/${path}`, version), 'INTERNAL_ERROR');
      expect(JSON.stringify(log)).toContain(reason);
    }
  });
});
