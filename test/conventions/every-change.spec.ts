import { ModulesContainer, Reflector } from '@nestjs/core';
import { DataSource, type EntityMetadata } from 'typeorm';
import { SINCE_MARGIN } from '../../src/platform/lists/list-parameters';
import { TIME_LIMIT } from '../../src/platform/pipeline/time-limit.decorator';
import { type Answer, atOnce, type Client, expectError, readSettings } from '../../src/platform/testing';
import { describeForEach, lacks } from '../support/asked';
import { parametersOf } from '../support/documented-filters';
import { Fixtures, type Row } from '../support/fixtures';
import type { Node } from '../support/openapi';
import { linesOf } from '../support/resource';
import { STEADY_COLLECTIONS as COLLECTIONS, useSpecimens } from '../support/specimens';

type Item = Record<string, unknown> & { id: number; updated_at: string };

const LINES = ['pear', 'apple', 'plum', 'quince', 'cherry', 'lime'];
const NDJSON = 'application/x-ndjson';
const VERSIONS = ['v1', 'v2'];
const LATER = '2100-01-01T00:00:00Z';
const EARLIER = '1900-01-01T00:00:00Z';
/** Milliseconds between the time limit of a request and the end of its COMMIT, see TimeLimit. */
const OUTCOME = 1_000;

/** What lists tell of changes and deletions, asked of all of them. */
describe('every change', () => {
  const api = useSpecimens();
  const documents: Record<string, Node> = {};
  const places: Record<string, { path: string; where?: string }> = {};
  let admin: Client;
  let callers: Record<string, Client>;
  /** Users who stay, as they send the requests. */
  let staying: number[];

  beforeAll(async () => {
    for (const version of VERSIONS) {
      documents[version] = (await api.get(version === 'v1' ? '//docs/json' : '//docs/v2/json')).body;
    }
    const [administrator, user] = [await api.admin(), await api.user()];
    admin = api.as(administrator);
    callers = { nobody: api, user: api.as(user) };
    const [own, others] = [new Fixtures(api, user), new Fixtures(api, await api.user())];
    staying = [administrator.id, user.id, others.owner.id];
    for (const { name, fill } of COLLECTIONS)
      places[name] = (await fill(own, others, linesOf(LINES))) ?? { path: name };
  });

  const query = <T = Row>(text: string, values: unknown[] = []) =>
    api.app.nest.get(DataSource).query<T[]>(text, values);
  const entityOf = (table: string): EntityMetadata =>
    api.app.nest.get(DataSource).entityMetadatas.find(({ tableName }) => tableName === table)!;
  const deletionOf = (table: string) => entityOf(table).deleteDateColumn?.databaseName;
  const idsOf = ({ body }: Answer) => (body.data as Item[]).map(({ id }) => id);
  const takes = (version: string, name: string, parameter: string) =>
    parametersOf(documents[version], name, version).some((one) => one.name === parameter);

  /** The indexes of a table that find the rows of a condition: their columns in order. */
  async function indexesOf(table: string, condition: string): Promise<string[]> {
    const rows = await query<{ columns: string }>(
      `SELECT string_agg(attname, ',' ORDER BY ordinality) AS columns
         FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid JOIN pg_am ON pg_am.oid = relam,
              unnest(indkey) WITH ORDINALITY AS key (number, ordinality), pg_attribute
        WHERE attrelid = indrelid AND attnum = number AND indrelid = $1::regclass AND amname = 'btree' AND indisvalid
              AND coalesce(pg_get_expr(indpred, indrelid), $2) = $2
        GROUP BY indexrelid`,
      [table, condition],
    );
    return rows.map(({ columns }) => columns);
  }

  it('has a margin that is longer than any request takes, with its COMMIT', () => {
    const { REQUEST_TIMEOUT } = readSettings({});
    const reflector = api.app.nest.get(Reflector);
    const limits = [...api.app.nest.get(ModulesContainer).values()].flatMap(({ controllers }) =>
      [...controllers.values()].flatMap(({ metatype }) => {
        const prototype = metatype!.prototype as Record<string, unknown>;
        const handlers = Object.getOwnPropertyNames(prototype).map((name) => prototype[name]);
        return handlers
          .filter((one) => typeof one === 'function')
          .map((one) => [one.name, reflector.get<number | undefined>(TIME_LIMIT, one) ?? REQUEST_TIMEOUT] as const);
      }),
    );

    expect(limits.length).toBeGreaterThan(5);
    lacks(
      limits
        .filter(([, limit]) => limit + OUTCOME >= SINCE_MARGIN * 1_000)
        .map(([name, limit]) => `${name} takes up to ${limit} ms: raise SINCE_MARGIN, which the documents name`),
    );
  });

  describeForEach(COLLECTIONS)('of $name', ({ name, table, attributes, sortable, statuses, textsOf }) => {
    const list = (parameters: string, version = 'v1', client = admin, headers = {}) =>
      client.get(`//api/${version}${places[name].path}?${parameters}`, headers);
    const rowsOf = async (condition: string, values: unknown[] = []) => {
      const { where = 'true' } = places[name];
      const rows = await query(`SELECT id FROM ${table} WHERE ${where} AND ${condition} ORDER BY id`, values);
      return rows.map(({ id }) => id);
    };
    /** By cursors, two items on a page. */
    const walk = async (parameters: string) => {
      const ids: number[] = [];
      for (let cursor: string | null = ''; cursor !== null;) {
        const answer = await list(`${parameters}&size=2${cursor && `&cursor=${cursor}`}`, 'v2');
        expect(answer.status).toBe(200);
        ids.push(...idsOf(answer));
        cursor = answer.body.pagination.next as string | null;
      }
      return ids;
    };
    const exported = async (parameters: string) => {
      const { text } = await list(parameters, 'v1', admin, { Accept: NDJSON });
      const lines = text.split('\n').slice(0, -1);
      return lines.map((line) => (JSON.parse(line) as Item).id);
    };
    /** The same rows in each form of the list, counted in each version. */
    const expectRows = async (parameters: string, ids: number[]) => {
      const page = await list(`${parameters}&size=100`);
      expect([parameters, idsOf(page)]).toEqual([parameters, ids]);
      expect([parameters, page.body.pagination.total]).toEqual([parameters, ids.length]);
      const counted = await list(`${parameters}&size=1&total=true`, 'v2');
      expect([parameters, counted.body.pagination.total]).toEqual([parameters, ids.length]);
      expect([parameters, await walk(parameters)]).toEqual([parameters, ids]);
      expect([parameters, await exported(parameters)]).toEqual([parameters, ids]);
      const xml = await list(`${parameters}&size=100&fields=id`, 'v1', admin, { Accept: 'application/xml' });
      expect([...xml.text.matchAll(/<id[^>]*>(\d+)<\/id>/g)].map(([, id]) => Number(id))).toEqual(ids);
    };
    const present = () => {
      const deletion = deletionOf(table);
      return deletion ? `${deletion} IS NULL` : 'true';
    };

    it('is asked for where rows tell it, in both versions', () => {
      for (const version of VERSIONS) {
        const shows = attributes.includes('updated_at');
        const [since, deleted] = ['updated_since', 'deleted'].map((one) => takes(version, name, one));
        lacks([
          ...(shows && !since
            ? [`${name} shows \`updated_at\`, and doesn't take \`updated_since\`: make its query by ListQueryOf()`]
            : []),
          ...(!shows && since ? [`${name} takes \`updated_since\`, and doesn't show \`updated_at\``] : []),
          ...(deletionOf(table) && !deleted
            ? [
                `${name} keeps deleted rows, and doesn't take \`deleted\`: name its entity in ListQueryOf(), or \`deleted: true\``,
              ]
            : []),
        ]);
        expect(deleted).toBe(deletionOf(table) !== undefined);
      }
    });

    it('is found in an index', async () => {
      const deletion = deletionOf(table);
      const found = await indexesOf(table, deletion ? `(${deletion} IS NULL)` : '');
      const ofDeleted = deletion ? await indexesOf(table, `(${deletion} IS NOT NULL)`) : [];
      const since = attributes.includes('updated_at') ? ['updated_at,id'] : [];

      lacks([
        ...since
          .filter((columns) => !found.includes(columns))
          .map(
            () =>
              `No index of ${table} has (updated_at, id): name updated_at in @SortableBy(), as \`updated_since\` needs it`,
          ),
        ...(deletion ? ['id', ...since] : [])
          .filter((columns) => !ofDeleted.includes(columns))
          .map(
            (columns) =>
              `No index of ${table} has the deleted rows by (${columns}): write addIndex(database, '${table}_deleted${columns === 'id' ? '' : '_since'}', 'ON ${table} (${columns.replace(',', ', ')}) WHERE ${deletion} IS NOT NULL')`,
          ),
      ]);
    });

    if (!attributes.includes('updated_at')) return;

    describe('that is later than a moment', () => {
      it('finds the rows of that moment and later, and counts them', async () => {
        const items = (await list('size=100')).body.data as Item[];
        const moments = [...new Set(items.map(({ updated_at }) => updated_at))];
        // A list in which all rows have one moment would prove nothing.
        expect(moments.length).toBeGreaterThan(1);
        for (const moment of [...moments.slice(-3), EARLIER, LATER]) {
          const ids = await rowsOf(`${present()} AND updated_at >= $1`, [moment]);
          await expectRows(`updated_since=${encodeURIComponent(moment)}`, ids);
        }
      });

      it('takes any offset from UTC, as other moments do', async () => {
        const ids = await rowsOf(`${present()} AND updated_at >= '2020-02-02T00:00:00Z'`);
        expect(idsOf(await list('size=100&updated_since=2020-02-02T05:30:00%2B05:30'))).toEqual(ids);
      });

      it('is combined with all else of the list', async () => {
        const ids = await rowsOf(`${present()} AND updated_at >= '2020-02-02'`);
        const since = 'size=100&updated_since=2020-02-02T00:00:00Z';

        expect(idsOf(await list(`${since}&ids=${ids.slice(0, 2).join()}`))).toEqual(ids.slice(0, 2));
        for (const sort of sortable) {
          const whole = idsOf(await list(`size=100&sort=${sort}&order=desc`));
          expect(idsOf(await list(`${since}&sort=${sort}&order=desc`))).toEqual(whole.filter((id) => ids.includes(id)));
        }
        for (const also of [...statuses.map((status) => `status=${status}`), ...(textsOf ? ['search=apple'] : [])]) {
          const some = idsOf(await list(`size=100&${also}`)).filter((id) => ids.includes(id));
          expect([also, idsOf(await list(`${since}&${also}`))]).toEqual([also, some]);
        }
      });

      it('belongs to its cursors', async () => {
        const { next } = (await list('size=1&updated_since=2020-01-01T00:00:00Z', 'v2')).body.pagination;
        for (const other of ['', '&updated_since=2020-02-02T00:00:00Z']) {
          const answer = await list(`size=1&cursor=${next}${other}`, 'v2');
          expectError(answer, 'VALIDATION_ERROR', { fields: { cursor: 'cursor' } });
        }
      });

      it('is refused where it is no moment, or there twice', async () => {
        await atOnce(['', 'x', '0', '2020-01-01', '2020-01-01T00:00:00', '2020-13-01T00:00:00Z'], async (value) => {
          for (const version of VERSIONS) {
            const answer = await list(`updated_since=${encodeURIComponent(value)}`, version);
            expectError(answer, 'VALIDATION_ERROR', { fields: { updated_since: 'moment' } });
          }
        });
        const twice = await list(`updated_since=${LATER}&updated_since=${LATER}`);
        expectError(twice, 'VALIDATION_ERROR', { fields: { updated_since: 'once' } });
      });
    });

    describe('that deleted rows', () => {
      let gone: number[] = [];
      const isKept = () => takes('v1', name, 'deleted');

      beforeAll(async () => {
        const deletion = deletionOf(table);
        if (!deletion) return;
        const ids = (await rowsOf(present())).filter((id) => !staying.includes(id));
        gone = ids.filter((_, index) => index % 2 === 0);
        // Of different times, so that `updated_since` tells them apart.
        for (const id of gone) await query(`UPDATE ${table} SET ${deletion} = now() WHERE id = $1`, [id]);
        expect(gone.length).toBeGreaterThan(2);
      });

      afterAll(async () => {
        const deletion = deletionOf(table);
        if (deletion) await query(`UPDATE ${table} SET ${deletion} = NULL WHERE id = ANY($1)`, [gone]);
      });

      it('shows them to administrators alone, and counts them', async () => {
        if (!isKept()) {
          for (const version of VERSIONS) {
            expectError(await list('deleted=only', version), 'VALIDATION_ERROR', { fields: { deleted: 'unknown' } });
          }
          return;
        }
        await expectRows('deleted=only', gone);
        expect(idsOf(await list('size=100')).filter((id) => gone.includes(id))).toEqual([]);
        await atOnce(Object.values(callers), async (caller) => {
          for (const version of VERSIONS) {
            const { status } = await list('', version, caller);
            const answer = await list('deleted=only', version, caller);
            if (status === 200) expectError(answer, 'VALIDATION_ERROR', { fields: { deleted: 'access' } });
            else expect(answer.status).toBe(status);
          }
          expect((await list('deleted=only', 'v1', caller, { Accept: NDJSON })).status).toBeGreaterThanOrEqual(400);
        });
      });

      it('shows them as they were, with the attributes asked for', async () => {
        if (!isKept()) return;
        const items = (await list('deleted=only&size=100')).body.data as Item[];
        for (const item of items) expect(Object.keys(item)).toEqual(attributes);
        const some = (await list('deleted=only&size=100&fields=id,updated_at')).body.data as Item[];
        expect(some).toEqual(items.map(({ id, updated_at }) => ({ id, updated_at })));
      });

      it('finds those that were deleted since a moment', async () => {
        if (!isKept()) return;
        const items = (await list('deleted=only&size=100&sort=updated_at&fields=id,updated_at')).body.data as Item[];
        expect(items.map(({ id }) => id)).toEqual(gone);
        for (const { id, updated_at } of items) {
          await expectRows(`deleted=only&updated_since=${updated_at}`, gone.slice(gone.indexOf(id)));
        }
        await expectRows(`deleted=only&updated_since=${LATER}`, []);
      });

      it('is combined with all else of the list', async () => {
        if (!isKept()) return;
        await expectRows(`deleted=only&ids=${gone.slice(0, 2).join()}`, gone.slice(0, 2));
        const { where = 'true' } = places[name];
        for (const sort of sortable) {
          const order = `ORDER BY ${sort} DESC, id DESC`;
          const rows = await query(`SELECT id FROM ${table} WHERE ${where} AND id = ANY($1) ${order}`, [gone]);
          const expected = rows.map(({ id }) => id);
          expect(idsOf(await list(`deleted=only&size=100&sort=${sort}&order=desc`))).toEqual(expected);
          expect(await walk(`deleted=only&sort=${sort}&order=desc`)).toEqual(expected);
          expect(await exported(`deleted=only&sort=${sort}&order=desc`)).toEqual(expected);
        }
        for (const status of statuses) {
          await expectRows(
            `deleted=only&status=${status}`,
            await rowsOf('id = ANY($1) AND status = $2', [gone, status]),
          );
        }
        if (!textsOf) return;
        const items = (await list('deleted=only&size=100')).body.data as Record<string, never>[];
        const found = items.filter((item) => textsOf(item).some((text) => text?.toLowerCase().includes('pl')));
        expect(found.length).toBeGreaterThan(0);
        await expectRows(
          'deleted=only&search=PL',
          found.map(({ id }) => id),
        );
      });

      it('belongs to their cursors', async () => {
        if (!isKept()) return;
        const { next } = (await list('deleted=only&size=1', 'v2')).body.pagination;
        expectError(await list(`size=1&cursor=${next}`, 'v2'), 'VALIDATION_ERROR', { fields: { cursor: 'cursor' } });
      });

      it('is refused where it is anything but `only`', async () => {
        if (!isKept()) return;
        await atOnce(['', 'true', 'ONLY', 'all', 'Symbol(deleted=only)'], async (value) => {
          const answer = await list(`deleted=${encodeURIComponent(value)}`);
          expectError(answer, 'VALIDATION_ERROR', { fields: { deleted: 'enum' } });
        });
      });
    });
  });
});
