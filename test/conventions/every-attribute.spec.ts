import { DataSource } from 'typeorm';
import { atOnce, type Client, expectError, times } from '../../src/platform/testing';
import { Fixtures, type Row } from '../support/fixtures';
import { anOrderOf } from '../support/builders';
import { routesOf } from '../support/requests';
import { ORDER_STATUS, QUANTITY } from '../support/resources/orders';
import { useSpecimens, WRITABLES_AND_SPECIMENS } from '../support/specimens';
import { type Values, withRows } from '../support/values';

type Item = Record<string, never> & { id: number };
type Writable = (typeof WRITABLES_AND_SPECIMENS)[number];

/** What is true of every attribute that can be written, asked of all of them; the finer points are in input.spec.ts. */
describe('every attribute', () => {
  const api = useSpecimens();
  let own: Fixtures;
  let admin: Client;

  beforeAll(async () => {
    admin = api.as(await api.admin());
    own = new Fixtures(api, await api.user());
  });

  /** @throws Error when no entity has it */
  const tableOf = (noun: string, table: string) => {
    const tables = api.app.nest.get(DataSource).entityMetadatas.map(({ tableName }) => tableName);
    if (tables.includes(table)) return table;
    throw new Error(`No entity has the table ${table}: say the \`table\` of ${noun} in test/support/resources/`);
  };
  const query = (text: string, values: unknown[] = []) => api.app.nest.get(DataSource).query<Row[]>(text, values);

  it('is asked', () => {
    const nouns = routesOf(api).flatMap((route) => /^PATCH .*\/([\w-]+)\/:id$/.exec(route)?.[1] ?? []);

    expect(nouns.sort()).toEqual(WRITABLES_AND_SPECIMENS.map(({ noun }) => noun).sort());
  });

  describe.each(WRITABLES_AND_SPECIMENS)('$noun', (writable) => {
    const { noun, attributes, required, defaults, kept = [], replaceable, place } = writable;
    const { table = noun.replaceAll('-', '_') } = writable;
    const visible = Object.keys(attributes).filter((name) => !attributes[name].secret);
    const path = ({ id }: Item) => `/${noun}/${id}`;
    const read = async (item: Item) => (await admin.get(path(item))).body.data as Item;
    const versionOf = async ({ id }: Item) =>
      (await query(`SELECT version FROM ${tableOf(noun, table)} WHERE id = $1`, [id]))[0].version;
    const least = () => leastOf(writable, own);
    const create = async (body: object) => {
      const { path = `/${noun}`, also } = (await place?.(own)) ?? {};
      return admin.post(path, { ...also, ...body });
    };
    const given = async (body?: object) => {
      const answer = await create(body ?? (await theMost(writable, own)));
      expect(answer).toMatchObject({ status: 201 });
      return answer.body.data as Item;
    };
    /** Another value than an item has. */
    const otherOf = async (item: Item, name: string) =>
      otherThan(item[name], await withRows(attributes[name], own), `${name} of ${noun}`);

    it.each(Object.entries(attributes))('takes %s within its limits', async (name, values) => {
      const { taken, secret } = await withRows(values, own);
      await atOnce(taken, async ([sent, stored]) => {
        const shown = secret ? {} : { [name]: stored };
        const created = await given({ ...(await least()), [name]: sent });
        expect(await read(created)).toMatchObject(shown);
        // So that a name is free again.
        expect(await admin.delete(path(created))).toMatchObject({ status: 204 });

        const item = await given();
        const { status, body } = await admin.patch(path(item), { [name]: sent });
        expect([sent, status]).toEqual([sent, 200]);
        expect(body.data).toEqual({ ...item, ...shown, updated_at: body.data.updated_at });
        expect(await read(item)).toEqual(body.data);
        if (replaceable) {
          const replaced = await admin.put(path(item), { ...(await least()), [name]: sent });
          expect(replaced).toMatchObject({ status: 200, body: { data: shown } });
        }
        await admin.delete(path(item));
      });
    });

    it.each(Object.entries(attributes))('refuses %s beyond its limits', async (name, { refused }) => {
      const item = await given();
      await atOnce(refused, async ([sent, rule, within]) => {
        const fields = { [[name, within].filter(Boolean).join('.')]: rule };
        const whole = { ...(await least()), [name]: sent };
        expectError(await create(whole), 'VALIDATION_ERROR', { fields });
        expectError(await admin.patch(path(item), { [name]: sent }), 'VALIDATION_ERROR', { fields });
        if (replaceable) expectError(await admin.put(path(item), whole), 'VALIDATION_ERROR', { fields });
      });
      expect(await read(item)).toEqual(item);
      expect(await versionOf(item)).toBe(1);
    });

    it('names the attribute of an id without a row', async () => {
      const item = await given();
      for (const [name, { isList }] of Object.entries(attributes).filter(([, { make }]) => make)) {
        const sent = { [name]: isList ? [2 ** 53 - 1] : 2 ** 53 - 1 };
        for (const answer of [await create({ ...(await least()), ...sent }), await admin.patch(path(item), sent)]) {
          const { fields } = expectError(answer, 'VALIDATION_ERROR');
          expect(fields?.map(({ field }) => field)).toEqual([name]);
        }
      }
      expect(await read(item)).toEqual(item);
    });

    it('asks for what is required, and has a default for the rest', async () => {
      const all = Object.fromEntries(required.map((name) => [name, 'required']));
      expectError(await create({}), 'VALIDATION_ERROR', { fields: all });
      for (const name of required) {
        const fields = { [name]: 'required' };
        expectError(await create({ ...(await least()), [name]: undefined }), 'VALIDATION_ERROR', { fields });
      }
      expect(await given(await least())).toMatchObject(defaults);
    });

    it('keeps what a PATCH leaves out', async () => {
      for (const name of visible) {
        const item = await given();
        const value = await otherOf(item, name);
        const { status, body } = await admin.patch(path(item), { [name]: value });
        expect([name, status]).toEqual([name, 200]);
        expect(body.data).toEqual({ ...item, [name]: value, updated_at: body.data.updated_at });
        await admin.delete(path(item));
      }
    });

    it(replaceable ? 'takes the default of what a PUT leaves out' : 'has no PUT', async () => {
      const item = await given();
      const answer = await admin.put(path(item), await least());
      if (!replaceable) return void expectError(answer, 'METHOD_NOT_ALLOWED');

      const same = only(item, ['id', 'created_at', ...kept]);
      expect(answer).toMatchObject({ status: 200, body: { data: { ...defaults, ...same } } });
      for (const name of required.filter((one) => visible.includes(one))) {
        const rest = { ...(await least()), [name]: undefined };
        expectError(await admin.put(path(item), rest), 'VALIDATION_ERROR', { fields: { [name]: 'required' } });
      }
    });

    it('moves updated_at and the version when it changes, and only then', async () => {
      const item = await given();
      const same = only(item, visible);
      expect(await admin.patch(path(item), {})).toMatchObject({ status: 200, body: { data: item } });
      expect(await admin.patch(path(item), same)).toMatchObject({ status: 200, body: { data: item } });
      if (replaceable) expect(await admin.put(path(item), same)).toMatchObject({ status: 200, body: { data: item } });
      expect(await versionOf(item)).toBe(1);

      const [name] = required;
      const { data } = (await admin.patch(path(item), { [name]: await otherOf(item, name) })).body;
      expect(Date.parse(data.updated_at as string)).toBeGreaterThan(Date.parse(item.updated_at));
      expect(data.created_at).toBe(item.created_at);
      expect(await versionOf(item)).toBe(2);
    });
  });

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
      expect(after).toEqual({ ...before, status: 'PAID', updated_at: after.updated_at });
      expect(Date.parse(after.updated_at as string)).toBeGreaterThan(Date.parse(before.updated_at as string));
      expect(await version()).toBe(2);
    });
  });
});

async function leastOf({ least, refersTo }: Writable, own: Fixtures): Promise<object> {
  return { ...least(), ...(await refersTo?.(own)) };
}

/** Every attribute, with another value than its default. */
async function theMost(writable: Writable, own: Fixtures): Promise<object> {
  const { noun, attributes, defaults } = writable;
  const others = Object.entries(defaults).map(async ([name, value]) => [
    name,
    otherThan(value, await withRows(attributes[name], own), `${name} of ${noun}`),
  ]);
  return { ...(await leastOf(writable, own)), ...Object.fromEntries(await Promise.all(others)) } as object;
}

/** @throws Error that says whose description lacks one */
function otherThan(value: unknown, { taken }: Values, whose: string): unknown {
  const others = taken.map(([, stored]) => stored).filter((stored) => JSON.stringify(stored) !== JSON.stringify(value));
  if (others.length > 0) return others.at(-1);
  throw new Error(
    `There is no value of ${whose} but ${JSON.stringify(value)}: add one to \`taken\` of its description in test/support/resources/`,
  );
}

function only(item: Item, names: string[]): object {
  return Object.fromEntries(names.map((name) => [name, item[name]]));
}
