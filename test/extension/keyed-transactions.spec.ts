import { randomUUID } from 'node:crypto';
import { type EntityManager } from 'typeorm';
import { useHandlers, Handler, handlers, insert } from '../support/modules/handlers';

describe('What a handler does in transactions', () => {
  const { api, marks, messages, send } = useHandlers();

  describe('with a key', () => {
    it('is one transaction, so its repetition does it once', async () => {
      const name = randomUUID();
      handlers.set(name, (manager) => manager.transaction((inner) => insert(inner, name)));
      const answers = [1, 2].map(() => api.post(`/handlers/${name}`, undefined, { 'Idempotency-Key': name }));

      const statuses = (await Promise.all(answers)).map(({ status }) => status).sort();
      expect([
        [201, 201],
        [201, 409],
      ]).toContainEqual(statuses);
      expect(await marks()).toEqual([name]);
    });

    it.each([
      "INSERT INTO marks (name) VALUES ('one of many'); COMMIT",
      "INSERT INTO marks (name) VALUES (E'it\\'s'); /* all; of it */ END; SELECT 1",
      'SELECT 1; ROLLBACK; BEGIN',
    ])('is refused when it ends its transaction among other statements: %s', async (text) => {
      const answer = await send(async (manager) => {
        await insert(manager, 'effect');
        await manager.query(text);
      }, true);

      expect(answer.status).toBe(500);
      expect(messages()).toContain("BEGIN, COMMIT and ROLLBACK can't be sent to it as statements");
      expect(await marks()).toEqual([]);
    });

    it('may send several statements that only speak of an end', async () => {
      const { status } = await send(async (manager) => {
        await manager.query(
          `INSERT INTO marks (name) VALUES ('a; COMMIT'), ('it''s; END'), (E'\\'; ABORT'); -- ; COMMIT
           DO $body$ BEGIN PERFORM 1; END $body$; SELECT 1 AS "; ROLLBACK"; /* ; ABORT */ SELECT 2;`,
        );
      }, true);

      expect(status).toBe(201);
      expect(new Set(await marks())).toEqual(new Set(['a; COMMIT', "it's; END", "'; ABORT"]));
    });

    it('leaves nothing behind when it fails, whatever was committed in it', async () => {
      const answer = await send(async (manager) => {
        await insert(manager, 'alone');
        await manager.transaction((inner) => insert(inner, 'committed'));
        throw new Error('The handler fails');
      }, true);

      expect(answer.status).toBe(500);
      expect(await marks()).toEqual([]);
    });

    it('is refused when another manager wrote inside of a transaction that was then rolled back', async () => {
      const answer = await send(async (manager) => {
        const failing = manager.transaction(async () => {
          await insert(manager, 'attempt');
          throw new Error('This fails');
        });
        await failing.catch(() => undefined);
      }, true);

      expect(answer.status).toBe(500);
      expect(messages()).toContain('INSERT INTO marks was written by another manager');
      expect(await marks()).toEqual([]);
    });

    it('is refused when it asks for another isolation level, and has it where the route says so', async () => {
      const handler: Handler = (manager) =>
        manager.transaction('SERIALIZABLE', async (inner) => {
          const [{ level }] = await inner.query<{ level: string }[]>(
            "SELECT current_setting('transaction_isolation') AS level",
          );
          return level;
        });

      expect((await send(handler, true)).status).toBe(500);
      expect(messages()).toContain("@KeyedIsolation('SERIALIZABLE')");
      expect((await send(handler, true, '/handlers/serializable')).body.data.result).toBe('serializable');
      expect((await send(handler, false)).body.data.result).toBe('serializable');
    });

    it('has what it sets in a transaction for no longer than that', async () => {
      const zones: string[] = [];
      const look = async (manager: EntityManager) => {
        const [{ zone, tenant }] = await manager.query<{ zone: string; tenant: string }[]>(
          "SELECT current_setting('TimeZone') AS zone, coalesce(current_setting('app.tenant', true), '') AS tenant",
        );
        zones.push(`${zone} ${tenant}`.trim());
      };
      const { status } = await send(async (manager) => {
        await look(manager);
        await manager.transaction(async (inner) => {
          await inner.transaction((innermost) => innermost.query("SET LOCAL TIME ZONE 'Asia/Tokyo'"));
          await inner.query("SELECT set_config('app.tenant', $1, true)", ['7']);
          await look(inner);
        });
        await look(manager);
      }, true);

      expect(status).toBe(201);
      expect(zones).toEqual([zones[0], 'Asia/Tokyo 7', zones[0]]);
    });
  });
});
