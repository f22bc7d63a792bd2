import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { waitFor } from '../../src/platform/testing';
import { AuditCount } from '../../src/platform/changes/audit-count';
import { countSettled } from '../../src/platform/rows/settled-counts';
import { AuditRetention } from '../../src/resources/audit-events/audit-retention';
import { useTestApi } from '../support/test-api';

/** What the list believes of the count that it reads, more than there are. */
const INVENTED = 40;
/** More than one transaction counts. */
const MANY_NUMBERS = 2_500_000;
const ROUNDS = 25;

const EVENT = "INSERT INTO audit_events (action) VALUES ('COUNTED')";
const OLD_EVENTS = `INSERT INTO audit_events (created_at, action)
  SELECT now() - interval '100 days', 'EXPIRED' FROM generate_series(1, 7)`;
/** Both in one snapshot. */
const COMPARED = `
  SELECT rows + (SELECT count(*) FROM audit_events WHERE id > up_to) AS known, (SELECT count(*) FROM audit_events) AS counted
    FROM settled_counts WHERE table_name = 'audit_events'`;
const COUNTS_ALL = `
  UPDATE settled_counts SET up_to = (SELECT max(id) FROM audit_events), rows = (SELECT count(*) FROM audit_events)`;
const WAITING = `
  SELECT FROM pg_stat_activity
   WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE 'DELETE FROM audit_events%'`;

describe('The number of audit events', () => {
  const api = useTestApi();
  const database = () => api.app.nest.get(DataSource);
  const query = <R = object>(text: string) => database().query<R[]>(text);
  const count = () => api.app.nest.get(AuditCount).count();
  const compared = async () => (await query<{ known: number; counted: number }>(COMPARED))[0];
  const state = async () => (await query<{ up_to: number; rows: number }>('SELECT up_to, rows FROM settled_counts'))[0];

  async function total(): Promise<number> {
    const { body } = await api.as(await api.admin()).get('/audit-events?size=1');
    return body.pagination.total as number;
  }

  /** What the list says beyond the rows that there are. The list itself leaves an event: the sign-in of its caller. */
  async function excess(): Promise<number> {
    const said = await total();
    return said - (await compared()).counted;
  }

  it('is read from what was counted, and from the events after it', async () => {
    await query(EVENT);
    await count();
    await query(EVENT);
    expect(await excess()).toBe(0);

    await query(`UPDATE settled_counts SET rows = rows + ${INVENTED}`);
    expect(await excess()).toBe(INVENTED);
    await query(`UPDATE settled_counts SET rows = rows - ${INVENTED}`);
  });

  it('is counted in steps, none of which is counted twice', async () => {
    await query(EVENT);
    await count();
    await query(`SELECT setval('audit_events_id_seq', (SELECT last_value FROM audit_events_id_seq) + ${MANY_NUMBERS})`);
    await query(EVENT);
    await count();
    const { up_to, rows } = await state();
    const { counted } = await compared();

    expect(up_to).toBeGreaterThan(MANY_NUMBERS);
    expect(rows).toBe(counted);
  });

  it('stays as it was when the service ends before a step', async () => {
    const before = await state();
    await query(EVENT);
    await countSettled(database(), 'audit_events', Number.MAX_SAFE_INTEGER, () => true);

    expect(await state()).toEqual(before);
  });

  it('leaves out an event of a transaction that has not ended', async () => {
    const client = new Client({ connectionString: api.app.databaseUrl });
    await client.connect();
    try {
      await client.query('BEGIN');
      await client.query(EVENT);
      await query(EVENT);
      await count();
      await client.query('COMMIT');
      const { known, counted } = await compared();

      expect(known).toBe(counted);
    } finally {
      await client.end();
    }
  });

  it('is without what is removed while somebody counts it', async () => {
    await query(OLD_EVENTS);
    const client = new Client({ connectionString: api.app.databaseUrl });
    await client.connect();
    try {
      await client.query('BEGIN');
      await client.query(COUNTS_ALL);
      const removal = api.app.nest.get(AuditRetention).sweep();
      await waitFor(async () => (await query(WAITING)).length === 1);
      await client.query('COMMIT');
      await removal;
      const { known, counted } = await compared();

      expect(known).toBe(counted);
    } finally {
      await client.end();
    }
  });

  it('is right while events come, are taken back, are counted and removed at once', async () => {
    const clients = Array.from({ length: 3 }, () => new Client({ connectionString: api.app.databaseUrl }));
    await Promise.all(clients.map((client) => client.connect()));
    const retention = api.app.nest.get(AuditRetention);
    const wrong: object[] = [];
    let isOver = false;
    const repeat = async (work: (round: number) => Promise<unknown>) => {
      for (let round = 0; round < ROUNDS; round++) await work(round);
    };
    const writes = clients.map((client) =>
      repeat(async (round) => {
        await client.query('BEGIN');
        await client.query(EVENT);
        await client.query(OLD_EVENTS);
        await client.query(round % 3 === 0 ? 'ROLLBACK' : 'COMMIT');
      }),
    );
    const checks = (async () => {
      while (!isOver) {
        const { known, counted } = await compared();
        if (known !== counted) wrong.push({ known, counted });
      }
    })();
    // Two counters take the lock from each other, and from the retention.
    const jobs = [repeat(count), repeat(count), repeat(() => retention.sweep()), repeat(() => retention.sweep())];
    await Promise.all([...writes, ...jobs]).finally(() => (isOver = true));
    await checks;
    await Promise.all(clients.map((client) => client.end()));
    await count();
    const { counted } = await compared();

    expect(wrong).toEqual([]);
    expect((await state()).rows).toBe(counted);
  });
});
