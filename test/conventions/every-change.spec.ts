import { ModulesContainer, Reflector } from '@nestjs/core';
import { SINCE_MARGIN } from '../../src/platform/lists/list-parameters';
import { TIME_LIMIT } from '../../src/platform/pipeline/time-limit.decorator';
import { atOnce, expectError, readSettings } from '../../src/platform/testing';
import { describeForEach, lacks } from '../support/asked';
import { FilledLists, idsOf, type Item, VERSIONS } from '../support/filled-lists';
import { STEADY_COLLECTIONS as COLLECTIONS, useSpecimens } from '../support/specimens';

const LATER = '2100-01-01T00:00:00Z';
const EARLIER = '1900-01-01T00:00:00Z';
const WRONG = ['', 'x', '0', '2020-01-01', '2020-01-01T00:00:00', '2020-13-01T00:00:00Z', "2020-01-01T00:00:00Z'--"];
/** Milliseconds between the time limit of a request and the end of its COMMIT, see TimeLimit. */
const OUTCOME = 1_000;

/** What changed since a moment, asked of all lists. */
describe('every change', () => {
  const api = useSpecimens();
  const lists = new FilledLists(api);

  beforeAll(() => lists.fill(COLLECTIONS));

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
    const isTold = attributes.includes('updated_at');
    const list = (parameters: string, version?: string) => lists.list(name, parameters, version);
    const rowsSince = (moment: string) =>
      lists.rowsOf(name, table, `${lists.presence(table)} AND updated_at >= $1`, [moment]);

    it('can be asked for where it is shown, in both versions', () => {
      const since = VERSIONS.map((version) => lists.takes(version, name, 'updated_since'));
      const lack = `${name} shows \`updated_at\`, and doesn't take \`updated_since\`: make its query by ListQueryOf()`;

      lacks(isTold && since.includes(false) ? [lack] : []);
      expect(since).toEqual([isTold, isTold]);
    });

    if (!isTold) return;

    it('finds the rows of a moment and later, and counts them', async () => {
      const items = (await list('size=100')).body.data as Item[];
      const moments = [...new Set(items.map(({ updated_at }) => updated_at))];
      // A list in which all rows have one moment would prove nothing.
      expect(moments.length).toBeGreaterThan(1);
      for (const moment of [...moments.slice(-3), EARLIER, LATER]) {
        await lists.expectRows(name, `updated_since=${moment}`, await rowsSince(moment));
      }
    });

    it('may be told with any offset from UTC', async () => {
      const ids = await rowsSince('2020-02-02T00:00:00Z');
      expect(idsOf(await list('size=100&updated_since=2020-02-02T05:30:00%2B05:30'))).toEqual(ids);
    });

    it('is combined with all else of the list', async () => {
      const moment = '2020-02-02T00:00:00Z';
      const ids = await rowsSince(moment);
      const since = `size=100&updated_since=${moment}`;

      expect(idsOf(await list(`${since}&ids=${ids.slice(0, 2).join()}`))).toEqual(ids.slice(0, 2));
      const others = [
        ...sortable.map((sort) => `sort=${sort}&order=desc`),
        ...statuses.map((status) => `status=${status}`),
        ...(textsOf ? ['search=apple'] : []),
      ];
      await atOnce(others, async (other) => {
        const some = idsOf(await list(`size=100&${other}`)).filter((id) => ids.includes(id));
        expect([other, idsOf(await list(`${since}&${other}`))]).toEqual([other, some]);
      });
    });

    it('belongs to its cursors', async () => {
      const { next } = (await list('size=1&updated_since=2020-01-01T00:00:00Z', 'v2')).body.pagination;
      for (const other of ['', '&updated_since=2020-02-02T00:00:00Z']) {
        const answer = await list(`size=1&cursor=${next}${other}`, 'v2');
        expectError(answer, 'VALIDATION_ERROR', { fields: { cursor: 'cursor' } });
      }
    });

    it('is refused where it is no moment, or there twice', async () => {
      await atOnce(WRONG, async (value) => {
        for (const version of VERSIONS) {
          const answer = await list(`updated_since=${encodeURIComponent(value)}`, version);
          expectError(answer, 'VALIDATION_ERROR', { fields: { updated_since: 'moment' } });
        }
      });
      const twice = await list(`updated_since=${LATER}&updated_since=${LATER}`);
      expectError(twice, 'VALIDATION_ERROR', { fields: { updated_since: 'once' } });
    });
  });
});
