import { AuditEvent } from '../../src/platform';
import { DataSource } from 'typeorm';
import { type Client, expectSuccess } from '../../src/platform/testing';
import { AuditRetention } from '../../src/resources/audit-events/audit-retention';
import { aProduct } from '../support/builders';
import { type TestUser, useTestApi } from '../support/test-api';

type Item = Pick<AuditEvent, 'id' | 'action' | 'resource' | 'resource_id' | 'user_id' | 'after'>;

describe('Audit events', () => {
  const api = useTestApi();
  let admin: TestUser;
  let client: Client;
  let product: { id: number };

  beforeAll(async () => {
    admin = await api.admin();
    client = api.as(admin);
    product = expectSuccess(await client.post('/products', aProduct()), 201, 'Created') as { id: number };
    expectSuccess(await client.patch(`/products/${product.id}`, { stock: 3 }));
    expectSuccess(await client.post('/products', aProduct()), 201, 'Created');
  });

  const list = async (parameters: string, version = 'v1') => {
    const { status, body } = await client.get(`//api/${version}/audit-events?${parameters}`);
    expect(status).toBe(200);
    return body.data as Item[];
  };

  it.each(['v1', 'v2'])('are found by resource, id, caller, action and time: %s', async (version) => {
    const ofProduct = await list(`resource=products&resource_id=${product.id}&order=desc`, version);
    expect(ofProduct.map(({ action }) => action)).toEqual(['UPDATED', 'CREATED']);
    expect(ofProduct[0].after).toEqual({ stock: 3 });

    const own = await list(`user_id=${admin.id}&resource=products&action=CREATED`, version);
    expect(own.map(({ user_id }) => user_id)).toEqual([admin.id, admin.id]);
    expect(await list(`user_id=${admin.id + 1_000}`, version)).toEqual([]);
    expect(await list('created_at[lt]=2020-01-01T00:00:00Z', version)).toEqual([]);
    expect(await list('resource=products&created_at[gte]=2020-01-01T00:00:00Z', version)).toHaveLength(3);
  });

  it('are found by an id of whatever resource has it', async () => {
    const found = await list(`resource_id=${product.id}&order=desc`);

    expect(found.every(({ resource_id }) => resource_id === String(product.id))).toBe(true);
    expect(found.map(({ resource, action }) => `${resource} ${action}`)).toContain('products CREATED');
  });

  it('are removed when they are older than AUDIT_RETENTION, and younger ones stay', async () => {
    const database = api.app.nest.get(DataSource);
    const add = (age: string) =>
      database.query(`INSERT INTO audit_events (created_at, action) VALUES (now() - interval '${age}', 'OF_AGE')`);
    for (const age of ['91 days', '100 days', '89 days']) await add(age);
    const before = await database.getRepository(AuditEvent).count();

    expect(await api.app.nest.get(AuditRetention).sweep()).toBe(2);
    expect(await database.getRepository(AuditEvent).count()).toBe(before - 2);
  });

  it('of the last day are not deleted, whatever a statement says', async () => {
    const early = (text: string) =>
      api.app.nest.get(DataSource).transaction(async (manager) => {
        await manager.query("SELECT set_config('audit.expired', (now() + interval '1 day')::text, true)");
        await manager.query(text);
      });

    await expect(early('DELETE FROM audit_events')).rejects.toThrow('neither changed nor deleted');
    await expect(early("UPDATE audit_events SET action = 'X'")).rejects.toThrow('neither changed nor deleted');
  });
});
