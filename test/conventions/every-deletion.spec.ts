import { atOnce, type Client, expectError } from '../../src/platform/testing';
import { describeForEach, lacks } from '../support/asked';
import { FilledLists, idsOf, type Item, VERSIONS } from '../support/filled-lists';
import { STEADY_COLLECTIONS as COLLECTIONS, useSpecimens } from '../support/specimens';

const LATER = '2100-01-01T00:00:00Z';
const WRONG = ['', 'true', 'ONLY', 'all', 'Symbol(deleted=only)'];

/** The deleted rows of lists, asked of all lists whose tables keep them. */
describe('every deletion', () => {
  const api = useSpecimens();
  const lists = new FilledLists(api);

  beforeAll(() => lists.fill(COLLECTIONS));

  describeForEach(COLLECTIONS)('of $name', ({ name, table, attributes, sortable, statuses, textsOf }) => {
    const list = (parameters: string, version?: string, client?: Client, headers?: object) =>
      lists.list(name, parameters, version, client, headers);
    const isKept = () => lists.deletionOf(table) !== undefined;
    /** The ids of the deleted rows, in the order of their deletion and of their ids. */
    let gone: number[] = [];

    beforeAll(async () => {
      if (!isKept()) return;
      const ids = await lists.rowsOf(name, table, lists.presence(table));
      // The users of the test go on.
      const able = table === 'users' ? ids.filter((id) => !lists.users.includes(id)) : ids;
      gone = able.filter((_, index) => index % 2 === 0);
      expect(gone.length).toBeGreaterThan(1);
      const deletion = lists.deletionOf(table);
      // One by one, so that they have moments of their own.
      for (const id of gone) await lists.query(`UPDATE ${table} SET ${deletion} = now() WHERE id = $1`, [id]);
    });

    afterAll(async () => {
      const deletion = lists.deletionOf(table);
      if (deletion) await lists.query(`UPDATE ${table} SET ${deletion} = NULL WHERE id = ANY($1)`, [gone]);
    });

    it('can be asked for where rows are kept, in both versions', async () => {
      const deleted = VERSIONS.map((version) => lists.takes(version, name, 'deleted'));
      const lack = `${name} keeps deleted rows, and doesn't take \`deleted\`: name the entity as \`sortable\` of ListQueryOf(), or \`deleted: true\``;

      lacks(isKept() && deleted.includes(false) ? [lack] : []);
      expect(deleted).toEqual([isKept(), isKept()]);
      if (isKept()) return;
      for (const version of VERSIONS) {
        expectError(await list('deleted=only', version), 'VALIDATION_ERROR', { fields: { deleted: 'unknown' } });
      }
    });

    it('is shown to administrators, in each form of the list, and counted', async () => {
      if (!isKept()) return;
      await lists.expectRows(name, 'deleted=only', gone);
      expect(idsOf(await list('size=100')).filter((id) => gone.includes(id))).toEqual([]);
    });

    it('is shown to nobody else', async () => {
      if (!isKept()) return;
      await atOnce(lists.others, async (caller) => {
        for (const version of VERSIONS) {
          for (const headers of [{}, { Accept: 'application/x-ndjson' }, { Accept: 'text/csv' }]) {
            const { status } = await list('', version, caller, headers);
            const answer = await list('deleted=only', version, caller, headers);
            if (status === 200) expectError(answer, 'VALIDATION_ERROR', { fields: { deleted: 'access' } });
            else expect(answer.status).toBe(status);
          }
        }
      });
    });

    it('leaves the row as it was, with the attributes asked for', async () => {
      if (!isKept()) return;
      const items = (await list('deleted=only&size=100')).body.data as Item[];
      for (const item of items) expect(Object.keys(item)).toEqual(attributes);
      const some = (await list('deleted=only&size=100&fields=id,updated_at')).body.data as Item[];
      expect(some).toEqual(items.map(({ id, updated_at }) => ({ id, updated_at })));
    });

    it('has a moment, since which it can be asked for', async () => {
      if (!isKept()) return;
      const items = (await list('deleted=only&size=100&fields=id,updated_at')).body.data as Item[];
      for (const { updated_at } of items) {
        const later = items.filter((one) => one.updated_at >= updated_at).map(({ id }) => id);
        await lists.expectRows(name, `deleted=only&updated_since=${updated_at}`, later);
      }
      expect(idsOf(await list(`deleted=only&updated_since=${LATER}`))).toEqual([]);
    });

    it('is combined with all else of the list', async () => {
      if (!isKept()) return;
      await lists.expectRows(name, `deleted=only&ids=${gone.slice(0, 2).join()}`, gone.slice(0, 2));
      for (const sort of sortable) {
        const order = `ORDER BY ${sort} DESC, id DESC`;
        const rows = await lists.query(`SELECT id FROM ${table} WHERE id = ANY($1) ${order}`, [gone]);
        const ids = rows.map(({ id }) => id);
        await lists.expectRows(name, `deleted=only&sort=${sort}&order=desc`, ids);
      }
      for (const status of statuses) {
        const ids = await lists.rowsOf(name, table, 'id = ANY($1) AND status = $2', [gone, status]);
        await lists.expectRows(name, `deleted=only&status=${status}`, ids);
      }
    });

    it('is found by a search', async () => {
      if (!isKept() || !textsOf) return;
      const items = (await list('deleted=only&size=100')).body.data as Record<string, never>[];
      const found = items.filter((item) => textsOf(item).some((text) => text?.toLowerCase().includes('e')));
      expect(found.length).toBeGreaterThan(0);
      await lists.expectRows(
        name,
        'deleted=only&search=E',
        found.map(({ id }) => id),
      );
    });

    it('belongs to its cursors', async () => {
      if (!isKept()) return;
      const { next } = (await list('deleted=only&size=1', 'v2')).body.pagination;
      expectError(await list(`size=1&cursor=${next}`, 'v2'), 'VALIDATION_ERROR', { fields: { cursor: 'cursor' } });
    });

    it('is refused where it is anything but `only`', async () => {
      if (!isKept()) return;
      await atOnce(WRONG, async (value) => {
        const answer = await list(`deleted=${encodeURIComponent(value)}`);
        expectError(answer, 'VALIDATION_ERROR', { fields: { deleted: 'enum' } });
      });
    });
  });
});
