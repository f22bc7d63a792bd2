import { DataSource } from 'typeorm';
import { type Client, expectSuccess, type TestApp, times } from '../../src/platform/testing';
import { parseMark } from '../../src/resources/changes/mark';
import { ChangesLoad, type Made } from '../support/changes-load';
import { generator } from '../support/mutated-text';
import { startApp } from '../support/test-app';
import { clientOf, useTestApi } from '../support/test-api';

const WRITERS = 20;
const CHANGES = 10_000;
const READERS = 6;
const SEED = 20_262;
const TYPES = ['products', 'posts', 'comments'];

interface Feed {
  changes: (Made & { at: string })[];
  next: string;
  more: boolean;
}
type Event = Made & { position: number };
type Walk = { after: number; found: Made[] };

describe(`The feed of changes, while ${WRITERS} writers hold commits back`, () => {
  const api = useTestApi();
  const random = generator(SEED);
  const oneOf = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)];
  const query = <T>(text: string, values?: unknown[]) => api.app.nest.get(DataSource).query<T[]>(text, values);
  let other: TestApp;
  /** The clients of both instances. */
  let clients: Client[];
  let load: ChangesLoad;
  let events: Event[];
  let walks: Walk[];

  beforeAll(async () => {
    other = await startApp({ databaseUrl: api.app.databaseUrl });
    const admin = await api.admin();
    const second = clientOf(() => `http://127.0.0.1:${other.port}`, { Authorization: `Bearer ${admin.token}` });
    clients = [api.as(admin), second];
    load = new ChangesLoad(api.app.databaseUrl, admin, WRITERS, SEED);
    const marks = [(await ask('now', 1)).next];
    const writing = load.run(CHANGES).then(lastEvent);
    const early = Promise.all(times(READERS, (index) => walk(marks, index % 2 ? 100 : 17, writing)));
    const last = await writing;
    const late = Promise.all(times(READERS, () => walk(marks, 100, Promise.resolve(last))));
    walks = [...(await early), ...(await late)];
    events = await allEvents();
  }, 300_000);
  afterAll(() => other?.stop());

  const ask = async (cursor: string, size: number): Promise<Feed> =>
    expectSuccess(await oneOf(clients).get(`/changes?cursor=${cursor}&size=${size}&types=${TYPES.join()}`)) as Feed;

  const positionOf = (mark: string): number => parseMark(mark)!.position;

  const lastEvent = async (): Promise<number> =>
    Number((await query<{ last: string }>('SELECT max(id) AS last FROM audit_events'))[0].last);

  /** Goes on from one of the marks until the last event, and asks one instance or the other. */
  async function walk(marks: string[], size: number, last: Promise<number>): Promise<Walk> {
    let end = Infinity;
    void last.then((position) => (end = position));
    const from = oneOf(marks);
    const found: Made[] = [];
    for (let cursor = from; positionOf(cursor) < end;) {
      const { changes, next } = await ask(cursor, size);
      found.push(...changes.map(({ type, id, change, version }) => ({ type, id, change, version })));
      marks.push(next);
      cursor = next;
    }
    return { after: positionOf(from), found };
  }

  /** What the database itself says, in its order. */
  async function allEvents(): Promise<Event[]> {
    const rows = await query<{ position: string; type: string; id: string; change: string; version: number }>(
      `SELECT id AS position, resource AS type, resource_id AS id, action AS change,
              coalesce(version_after, version_before) AS version
         FROM audit_events WHERE resource = ANY ($1) ORDER BY audit_events.id`,
      [TYPES],
    );
    return rows.map(({ position, id, ...rest }) => ({ ...rest, position: Number(position), id: Number(id) }));
  }

  it(`has the ${CHANGES} changes that the writers have committed, and no others`, () => {
    const committed = load.made.map(textOf).sort();

    expect(committed.length).toBeGreaterThanOrEqual(CHANGES);
    expect(events.map(textOf).sort()).toEqual(committed);
  });

  it('tells every reader what comes after its mark: all of it, once, and in one order', () => {
    // Otherwise all began at the beginning.
    expect(new Set(walks.map(({ after }) => after)).size).toBeGreaterThan(2);
    for (const { after, found } of walks) {
      const expected = events.filter(({ position }) => position > after).map(textOf);
      const told = found.map(textOf);

      expect(told.filter((one, index) => one !== expected[index])).toEqual([]);
      expect(told).toHaveLength(expected.length);
      expect(new Set(told).size).toBe(told.length);
    }
  });

  it('never tells an older version after a newer one, and nothing after a deletion', () => {
    for (const { found } of walks) {
      const last = new Map<string, Made>();
      const wrong = found.filter((one) => {
        const before = last.get(`${one.type} ${one.id}`);
        last.set(`${one.type} ${one.id}`, one);
        return before && (before.change === 'DELETED' || one.change === 'CREATED' || one.version < before.version);
      });

      expect(wrong).toEqual([]);
    }
  });

  it('leads whoever follows it to what the database has', async () => {
    const mirror = new Map<string, number>();
    const { found } = walks.reduce((one, two) => (two.found.length > one.found.length ? two : one));
    for (const { type, id, change, version } of found) {
      if (change === 'DELETED') mirror.delete(`${type} ${id}`);
      else mirror.set(`${type} ${id}`, version);
    }
    const rows = await query<{ row: string; version: number }>(
      `SELECT 'products ' || id AS row, version FROM products WHERE deleted_at IS NULL
        UNION ALL SELECT 'posts ' || id, version FROM posts
        UNION ALL SELECT 'comments ' || id, version FROM comments`,
    );

    expect(rows.length).toBeGreaterThan(100);
    expect(Object.fromEntries(mirror)).toEqual(Object.fromEntries(rows.map(({ row, version }) => [row, version])));
  });
});

const textOf = ({ type, id, change, version }: Made): string => `${type} ${id} ${change} ${version}`;
