import { DataSource } from 'typeorm';
import { type Client, expectError, times } from '../../src/platform/testing';
import { anOrderOf } from '../support/builders';
import { Fixtures, type Row } from '../support/fixtures';
import { ORDER_STATUS, QUANTITY } from '../support/resources/orders';
import { useTestApi } from '../support/test-api';

/** What is particular to some resources; the rest is in test/conventions/every-attribute.spec.ts. */
describe('The attributes that are written', () => {
  const api = useTestApi();
  let own: Fixtures;
  let admin: Client;

  beforeAll(async () => {
    admin = api.as(await api.admin());
    own = new Fixtures(api, await api.user());
  });

  const query = (text: string, values: unknown[] = []) => api.app.nest.get(DataSource).query<Row[]>(text, values);

  describe('replies', () => {
    it.each([
      [undefined, 'required'],
      [null, 'type'],
      ['1', 'type'],
      [1.5, 'type'],
      [0, 'range'],
      [-1, 'range'],
      [2 ** 53, 'range'],
      [2 ** 53 - 1, 'exists'],
    ])('belong to a comment, not to %j', async (comment_id, rule) => {
      const answer = await admin.post('/replies', { comment_id, content: 'A reply.' });

      expectError(answer, 'VALIDATION_ERROR', { fields: { comment_id: rule } });
    });

    it('stay below their comment', async () => {
      const [reply, other] = [await own.reply(), await own.comment()];

      expectError(await admin.patch(`/replies/${reply.id}`, { comment_id: other.id }), 'VALIDATION_ERROR', {
        fields: { comment_id: 'unknown' },
      });
    });
  });

  describe('orders', () => {
    const order = (items: unknown) => admin.post('/orders', { items });
    const refuse = async (items: unknown, fields: Record<string, string | string[]>) =>
      expectError(await order(items), 'VALIDATION_ERROR', { fields });

    it('take 1 to 100 lines', async () => {
      const products = await Promise.all(times(101, () => own.product({ price: 0.01 })));
      const { items } = anOrderOf(...products);

      expect(await order(items.slice(0, 100))).toMatchObject({ status: 201, body: { data: { total_amount: 1 } } });
      await refuse(items, { items: 'length' });
      await refuse([], { items: 'length' });
      await refuse(undefined, { items: 'required' });
      for (const wrong of [null, items[0], 1, [1], [null], [[]]]) await refuse(wrong, { items: 'type' });
    });

    it('take a quantity within its limits, and only that', async () => {
      const { id: product_id } = await own.product({ stock: 2_000 });
      for (const [quantity] of QUANTITY.taken) {
        expect(await order([{ product_id, quantity }])).toMatchObject({
          status: 201,
          body: { data: { user_id: expect.any(Number), status: 'PENDING', items: [{ product_id, quantity }] } },
        });
      }
      for (const [quantity, rule] of QUANTITY.refused) {
        await refuse([{ product_id, quantity }], { 'items.0.quantity': rule });
      }
      const priced = { product_id, quantity: 1, name: 'Cheap', unit_price: 0 };
      await refuse([priced], { 'items.0.name': 'unknown', 'items.0.unit_price': 'unknown' });
      await refuse([{}], { 'items.0.product_id': 'required', 'items.0.quantity': 'required' });
    });

    it('take a status that there is, and nothing with it', async () => {
      const { id } = await own.order();
      for (const [status, rule] of [...ORDER_STATUS.refused, [undefined, 'required']]) {
        const answer = await admin.patch(`/orders/${id}/status`, { status });
        expectError(answer, 'VALIDATION_ERROR', { fields: { status: rule as string } });
      }
    });

    it('move updated_at and the version when their status changes, and only then', async () => {
      const { id } = await own.order();
      const before = (await admin.get(`/orders/${id}`)).body.data;
      const move = async (status: string) => (await admin.patch(`/orders/${id}/status`, { status })).body.data;
      const version = async () => (await query('SELECT version FROM orders WHERE id = $1', [id]))[0].version;

      expect(await move('PENDING')).toEqual(before);
      expect(await version()).toBe(1);
      const after = await move('PAID');
      expect(after).toEqual({ ...before, status: 'PAID', updated_at: after.updated_at, version: 2 });
      expect(Date.parse(after.updated_at as string)).toBeGreaterThan(Date.parse(before.updated_at as string));
      expect(await version()).toBe(2);
    });
  });
});
