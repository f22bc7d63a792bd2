import { DataSource } from 'typeorm';
import { atOnce, type Client, expectError } from '../../src/platform/testing';
import { describeForEach, lacks } from '../support/asked';
import { Fixtures, type Row } from '../support/fixtures';
import { placesOf } from '../support/places';
import { routesOf } from '../support/requests';
import { useSpecimens, WRITABLES_AND_SPECIMENS } from '../support/specimens';
import { lacksOfUnique, uniqueAttributesOf } from '../support/unique-attributes';
import { type Values, withRows } from '../support/values';

type Item = Record<string, never> & { id: number };
/** What the service sets. */
const READ_ONLY = ['id', 'created_at', 'updated_at', 'version'];
const ANYTHING = [null, 7, 'x', true, [], { constructor: { prototype: [1] } }];
/** What a change moves. */
const MOVING = ['updated_at', 'version'];

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
  const uniqueIn = (noun: string, table: string) => {
    const own = tableOf(noun, table);
    const entities = api.app.nest.get(DataSource).entityMetadatas;
    return uniqueAttributesOf(entities.find(({ tableName }) => tableName === own)!);
  };
  const query = (text: string, values: unknown[] = []) => api.app.nest.get(DataSource).query<Row[]>(text, values);

  it('is asked', () => {
    const nouns = WRITABLES_AND_SPECIMENS.map(({ noun }) => noun);
    // An upload's chunks and an order's status are no attributes.
    const patches = routesOf(api).filter((route) => /^PATCH .*\/:\w+$/.test(route) && !route.endsWith('/:key'));
    const unasked = patches.filter((route) => !nouns.some((noun) => route.includes(`/${noun}/:`)));

    lacks(
      unasked.map(
        (one) => `${one} changes attributes that nobody describes: add \`writable\` in test/support/resources/`,
      ),
    );
  });

  describeForEach(WRITABLES_AND_SPECIMENS)('$noun', (writable) => {
    const { noun, attributes, required, defaults, kept = [], once = [], replaceable, table } = writable;
    const places = placesOf(writable);
    const visible = Object.keys(attributes).filter((name) => !attributes[name].secret);
    const path = (item: Item) => places.of(item);
    const read = async (item: Item) => (await admin.get(path(item))).body.data as Item;
    const versionOf = async ({ id }: Item) =>
      (await query(`SELECT version FROM ${tableOf(noun, table)} WHERE id = $1`, [id]))[0].version;
    const least = () => leastOf(writable, own);
    const create = async (body: object) => {
      const place = await places.forNew(own);
      const answer = await admin.post(place.path, { ...place.also, ...body });
      if (answer.status === 201) places.add(answer.body.data as Item, place.ids);
      return answer;
    };
    const given = async (body?: object) => {
      const answer = await create(body ?? (await theMost(writable, own, uniqueIn(noun, table))));
      expect(answer).toMatchObject({ status: 201 });
      return Object.fromEntries(Object.entries(answer.body.data).filter(([name]) => !once.includes(name))) as Item;
    };
    /** Another value than an item has. */
    const otherOf = async (item: Item, name: string) =>
      otherThan(item[name], await withRows(attributes[name], own), `${name} of ${noun}`);

    it('is described with another value of each unique attribute for each row', async () => {
      lacks(await lacksOfUnique(writable, uniqueIn(noun, table), own));
    });

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
        expect(body.data).toEqual({ ...item, ...shown, ...only(body.data as Item, MOVING) });
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
        expect(body.data).toEqual({ ...item, [name]: value, ...only(body.data as Item, MOVING) });
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

    it(
      replaceable ? 'ignores what the service sets in a PUT, whatever its value' : 'has no PUT to send back',
      async () => {
        if (!replaceable) return;
        const item = await given();
        for (const value of [only(item, READ_ONLY), ...ANYTHING.map((one) => valueForEach(READ_ONLY, one))]) {
          const answer = await admin.put(path(item), { ...only(item, visible), ...value });
          expect(answer).toMatchObject({ status: 200, body: { data: item } });
        }
      },
    );

    it('moves updated_at and the version when it changes, and only then', async () => {
      const item = await given();
      const same = only(item, visible);
      expect(await admin.patch(path(item), {})).toMatchObject({ status: 200, body: { data: item } });
      expect(await admin.patch(path(item), same)).toMatchObject({ status: 200, body: { data: item } });
      if (replaceable) expect(await admin.put(path(item), same)).toMatchObject({ status: 200, body: { data: item } });
      expect([item.version, await versionOf(item)]).toEqual([1, 1]);

      const [name] = required;
      const { data } = (await admin.patch(path(item), { [name]: await otherOf(item, name) })).body;
      expect(Date.parse(data.updated_at as string)).toBeGreaterThan(Date.parse(item.updated_at));
      expect(data.created_at).toBe(item.created_at);
      expect([data.version, await versionOf(item)]).toEqual([2, 2]);
    });
  });
});

const valueForEach = (names: string[], value: unknown) => Object.fromEntries(names.map((name) => [name, value]));

async function leastOf({ least, refersTo }: Writable, own: Fixtures): Promise<object> {
  return { ...least(), ...(await refersTo?.(own)) };
}

/** The number of values that were made for unique attributes. */
let made = 0;

/** Every attribute, with another value than its default. That of a unique one is no other row's either. */
async function theMost(writable: Writable, own: Fixtures, unique: string[]): Promise<object> {
  const { noun, attributes, defaults } = writable;
  const others = Object.entries(defaults).map(async ([name, value]) => [
    name,
    unique.includes(name) && attributes[name].fresh
      ? attributes[name].fresh(++made)
      : otherThan(value, await withRows(attributes[name], own), `${name} of ${noun}`),
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
