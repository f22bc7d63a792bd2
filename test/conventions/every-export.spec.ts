import { type Answer, type Client, expectError } from '../../src/platform/testing';
import { describeForEach, itForEach } from '../support/asked';
import { fieldsOf } from '../support/csv';
import { Fixtures } from '../support/fixtures';
import { linesOf } from '../support/resource';
import { STEADY_COLLECTIONS as COLLECTIONS, useSpecimens } from '../support/specimens';

type Item = Record<string, unknown>;

const CSV = 'text/csv';
const NDJSON = 'application/x-ndjson';
const TEXTS = ['pear', 'Apple pie', '=1+1', 'a "b", c', '@home', '<tart> & tea', '-5+5', 'Crème\u2028brûlée', 'pears'];
/** Fewer than there are rows, so that the walk takes several pages. */
const SIZE = 4;
/** Parameters of pages, by version. */
const OF_PAGES = [
  ['v1', 'page=0'],
  ['v1', 'size=100'],
  ['v1', 'limit=1'],
  ['v2', 'size=100'],
  ['v2', 'cursor=abc'],
];

/** What is true of the whole list of every collection; the finer points are in exports.spec.ts. */
describe('every collection as a whole', () => {
  const api = useSpecimens();
  const callers: Record<string, Client> = {};
  const paths = Object.fromEntries(COLLECTIONS.map(({ name }) => [name, name]));

  beforeAll(async () => {
    const user = await api.user();
    callers.administrator = api.as(await api.admin());
    callers.user = api.as(user);
    const [own, others] = [new Fixtures(api, user), new Fixtures(api, await api.user())];
    for (const { name, fill } of COLLECTIONS) {
      const place = await fill(own, others, linesOf(TEXTS));
      if (place) paths[name] = place.path;
    }
  });

  const whole = (caller: Client, path: string, accept: string) => caller.get(path, { Accept: accept });

  /** True for a list that others read. Then it is refused as a whole, too. */
  async function isRefused(caller: string, path: string): Promise<boolean> {
    const { status } = await callers[caller].get(path);
    if (status === 200) return false;
    for (const accept of [CSV, NDJSON]) expectError(await whole(callers[caller], path, accept), 'FORBIDDEN');
    return true;
  }

  /** All pages of the same list in JSON. */
  async function walk(caller: Client, path: string): Promise<Item[]> {
    const items: Item[] = [];
    for (let page = 0, last = 0; page <= last; page++) {
      const { body } = await caller.get(`${path}?size=${SIZE}&page=${page}`);
      items.push(...(body.data as Item[]));
      last = body.pagination.totalPages - 1;
    }
    return items;
  }

  /** The same list in JSON, in one page. */
  async function pageOf(path: string): Promise<Item[]> {
    const { body } = await callers.administrator.get(`${path}&size=100`);
    expect(body.pagination.totalPages).toBeLessThanOrEqual(1);
    return body.data;
  }

  const linesOfJson = ({ text }: Answer) =>
    text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Item);

  describeForEach(COLLECTIONS)('$name', ({ name, attributes, sortable, statuses, textsOf }) => {
    const list = (parameters = '', version = 'v1') => `//api/${version}${paths[name]}${parameters}`;

    describe.each(['administrator', 'user'])('for the %s', (caller) => {
      it('is as NDJSON what its pages have', async () => {
        if (await isRefused(caller, list())) return;
        const items = await walk(callers[caller], list());

        expect(linesOfJson(await whole(callers[caller], list(), NDJSON))).toEqual(items);
        expect(linesOfJson(await whole(callers[caller], list('', 'v2'), NDJSON))).toEqual(items);
        expect(items.length).toBeGreaterThan(SIZE);
      });

      it('is as CSV what its pages have', async () => {
        if (await isRefused(caller, list())) return;
        const items = await walk(callers[caller], list());
        const answer = await whole(callers[caller], list(), CSV);
        const [head, ...lines] = fieldsOf(answer.text);

        expect([...head].sort()).toEqual([...attributes].sort());
        expect(lines).toEqual(items.map((item) => head.map((attribute) => fieldOf(item[attribute!]))));
        expect((await whole(callers[caller], list('', 'v2'), CSV)).text).toBe(answer.text);
      });
    });

    itForEach(sortable)('is sorted by %s as its pages are', async (sort) => {
      for (const order of ['asc', 'desc']) {
        const parameters = `?sort=${sort}&order=${order}&fields=id`;
        const ids = (await pageOf(list(parameters))).map(({ id }) => String(id));
        const { text } = await whole(callers.administrator, list(parameters), CSV);
        expect(fieldsOf(text)).toEqual([['id'], ...ids.map((id) => [id])]);
      }
    });

    itForEach([...statuses.map((status) => `?status=${status}`), ...(textsOf ? ['?search=APPLE', '?search=%26'] : [])])(
      'has what matches %s',
      async (parameters) => {
        const items = await pageOf(list(parameters));
        expect(linesOfJson(await whole(callers.administrator, list(parameters), NDJSON))).toEqual(items);
      },
    );

    it.each(OF_PAGES)('has no pages: %s with %s is 400', async (version, parameter) => {
      const answer = await whole(callers.administrator, list(`?${parameter}`, version), CSV);
      expectError(answer, 'VALIDATION_ERROR', { fields: { [parameter.split('=')[0]]: 'unknown' } });
    });

    it('answers HEAD with the headers', async () => {
      const { status, headers, text } = await callers.administrator.head(list(), { Accept: CSV });
      const noun = name.split('/').at(-1);

      expect([status, text]).toEqual([200, '']);
      expect(headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present');
      expect(headers.get('content-disposition')).toBe(`attachment; filename="${noun}.csv"`);
    });
  });
});

/** What the field of a value is. */
function fieldOf(value: unknown): string | undefined {
  if (value === null || value === undefined) return undefined;
  if (typeof value !== 'string') return JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, escaped);
  return /^[=+\-@\t\r\n]/.test(value) && !/^-\d+(\.\d+)?$/.test(value) ? `'${value}` : value;
}

const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
