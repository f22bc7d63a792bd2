import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { type Client as ApiClient, waitFor } from '../../src/platform/testing';
import { SettledChanges } from '../../src/platform/changes/settled-changes';
import { RepeatedJob } from '../../src/platform/transactions/repeated-job';
import { AuditCount } from '../../src/platform/changes/audit-count';
import { countSettled } from '../../src/platform/rows/settled-counts';
import { AuditRetention } from '../../src/resources/audit-events/audit-retention';
import { useTestApi } from '../support/test-api';

/** What the list believes of the count that it reads, more than there are. */
const INVENTED = 40;
/** More rows than one transaction counts. */
const MANY = 120_000;
/** Numbers that no event has. */
const GAP = 2_500_000;
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
  let client: ApiClient;
  const database = () => api.app.nest.get(DataSource);
  const query = <R = object>(text: string) => database().query<R[]>(text);
  const count = () => api.app.nest.get(AuditCount).count();
  const compared = async () => (await query<{ known: number; counted: number }>(COMPARED))[0];
  const state = async () => (await query<{ up_to: number; rows: number }>('SELECT up_to, rows FROM settled_counts'))[0];

  const lastNumber = async () =>
    (await query<{ last: number }>('SELECT last_value AS last FROM audit_events_id_seq'))[0].last;

  /** The service's own job may have the count. */
  const countAll = () =>
    waitFor(async () => {
      await count();
      return (await state()).up_to === (await lastNumber());
    });

  async function total(): Promise<number> {
    const { body } = await client.get('/audit-events?size=1');
    return body.pagination.total as number;
  }

  /** What the list says beyond the rows that there are. Sign-ins leave their events a moment later. */
  async function excess(): Promise<number> {
    const { counted: before } = await compared();
    const said = await total();
    const { counted } = await compared();
    return before === counted ? said - counted : excess();
  }

  beforeAll(async () => {
    client = api.as(await api.admin());
  });

  it('is read from what was counted, and from the events after it', async () => {
    await query(EVENT);
    await countAll();
    await query(EVENT);
    expect(await excess()).toBe(0);

    await query(`UPDATE settled_counts SET rows = rows + ${INVENTED}`);
    expect(await excess()).toBe(INVENTED);
    await query(`UPDATE settled_counts SET rows = rows - ${INVENTED}`);
  });

  it('is counted in steps, none of which is counted twice', async () => {
    await query(
      `INSERT INTO audit_events (created_at, action) SELECT now() - interval '1 hour', 'MANY' FROM generate_series(1, ${MANY})`,
    );
    await query(`SELECT setval('audit_events_id_seq', (SELECT last_value FROM audit_events_id_seq) + ${GAP})`);
    await query(EVENT);
    await countAll();
    const { up_to, rows } = await state();
    const { counted } = await compared();

    expect(counted).toBeGreaterThan(MANY);
    expect(up_to).toBeGreaterThan(GAP);
    expect(rows).toBe(counted);
  });

  it('stays as it was when the service ends before a step', async () => {
    await RepeatedJob.between(async () => {
      const before = await state();
      await query(EVENT);
      await countSettled(database(), 'audit_events', () => true);

      expect(await state()).toEqual(before);
    });
  });

  it('is counted later where somebody else has the count', async () => {
    await countAll();
    const client = new Client({ connectionString: api.app.databaseUrl });
    await client.connect();
    try {
      await client.query('BEGIN');
      await client.query('SELECT FROM settled_counts FOR UPDATE');
      await query(EVENT);
      const before = await state();
      await count();
      expect(await state()).toEqual(before);
      await client.query('ROLLBACK');
      await count();

      expect((await state()).up_to).toBeGreaterThan(before.up_to);
    } finally {
      await client.end();
    }
  });

  it('is counted anew after it was set to nothing', async () => {
    await query('UPDATE settled_counts SET up_to = 0, rows = 0');
    await countAll();

    expect((await state()).rows).toBe((await compared()).counted);
  });

  it('is right where numbers that nobody has committed are given again', async () => {
    await countAll();
    await query(`SELECT setval('audit_events_id_seq', (SELECT last_value FROM audit_events_id_seq) + ${GAP})`);
    await api.app.nest.get(SettledChanges).upTo();
    await query(`SELECT setval('audit_events_id_seq', (SELECT last_value FROM audit_events_id_seq) - ${GAP})`);
    await query(EVENT);
    await countAll();
    await query(EVENT);
    const { known, counted } = await compared();

    expect(known).toBe(counted);
    expect((await state()).up_to).toBeLessThan((await lastNumber()) + 1);
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
    await countAll();
    const { counted } = await compared();

    expect(wrong).toEqual([]);
    expect((await state()).rows).toBe(counted);
  });
});
