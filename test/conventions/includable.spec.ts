import { DataSource, type SelectQueryBuilder } from 'typeorm';
import { includable, Includes, ResourceDto, Role } from '../../src/platform';
import { DeclaredAccess } from '../../src/platform/auth/declared-access';
import { ITEM_TYPE } from '../../src/platform/http/route-keys';
import { type Includable, type IncludedRow, includesOf } from '../../src/platform/input/includes';
import { onlyReadable } from '../../src/platform/lists/related-statement';
import { type Answer, type Client, expectError, statementsOf } from '../../src/platform/testing';
import { Product } from '../../src/resources/products/product.entity';
import { Fixtures, type Row } from '../support/fixtures';
import { makeParcels, Parcel, ParcelDto, ParcelMark, ParcelsModule } from '../support/modules/parcels';
import { type TestUser, useTestApi } from '../support/test-api';

type Item = Record<string, unknown> & { id: number };

const itemOf = ({ body }: Answer) => body.data as Item;
const itemsOf = ({ body }: Answer) => body.data as Item[];

describe('Rows that a resource may include', () => {
  const api = useTestApi({ imports: [ParcelsModule] });
  let buyer: TestUser;
  let callers: Record<string, Client>;
  let own: Fixtures;
  let product: Row;
  let order: Row;
  let parcel: Parcel;

  beforeAll(async () => {
    await makeParcels(api.app.nest.get(DataSource));
    buyer = await api.user();
    const [stranger, admin] = [api.as(await api.user()), api.as(await api.admin())];
    callers = { nobody: api, stranger, buyer: api.as(buyer), admin };
    own = new Fixtures(api, buyer);
    product = await own.product();
    order = await own.order({}, product);
    parcel = await pack({ order_id: order.id });
  });

  const pack = (columns: Partial<Parcel>): Promise<Parcel> =>
    api
      .repository(Parcel)
      .save(api.repository(Parcel).create({ product_id: product.id, order_id: null, crate_id: null, ...columns }));

  it.each([
    ['nobody', false],
    ['stranger', false],
    ['buyer', true],
    ['admin', true],
  ])('are null for a caller who may not read them, alone and in a list: %s', async (name, sees) => {
    const expected = sees ? itemOf(await callers.admin.get(`/orders/${order.id}`)) : null;

    expect(itemOf(await callers[name].get(`/parcels/${parcel.id}?include=order`)).order).toEqual(expected);
    const [item] = itemsOf(await callers[name].get(`/parcels?include=order,product`));
    expect(item).toMatchObject({ order_id: order.id, order: expected, product: { id: product.id } });
  });

  it('come with what belongs to their own representation', async () => {
    const { order: embedded } = itemOf(await callers.buyer.get(`/parcels/${parcel.id}?include=order`));

    expect((embedded as { items: object[] }).items).toMatchObject([{ product_id: product.id, quantity: 1 }]);
  });

  it('may be rows of the same resource', async () => {
    const { id } = await pack({ crate_id: parcel.id });

    expect(itemOf(await api.get(`/parcels/${id}?include=crate`)).crate).toEqual(
      itemOf(await api.get(`/parcels/${parcel.id}`)),
    );
    await api.repository(Parcel).delete(id);
  });

  it('are null where the id is null, hidden or of no row', async () => {
    const hidden = await own.product({ deleted_at: new Date() });
    const packed = [await pack({}), await pack({ product_id: hidden.id }), await pack({ product_id: 999_999 })];
    const read = async ({ id }: Parcel) => itemOf(await callers.admin.get(`/parcels/${id}?include=order,product`));

    expect(await read(packed[0])).toMatchObject({ order: null, product: { id: product.id } });
    expect(await read(packed[1])).toMatchObject({ product_id: hidden.id, product: null });
    expect(await read(packed[2])).toMatchObject({ product_id: 999_999, product: null });
    await api.repository(Parcel).delete(packed.map(({ id }) => id));
  });

  it('of a role are an empty list for others, whose statement is not sent', async () => {
    await api.repository(ParcelMark).insert({ parcel_id: parcel.id, text: 'fragile' });
    const path = `/parcels/${parcel.id}?include=marks`;

    for (const name of ['nobody', 'buyer']) {
      const statements = await statementsOf(async () => {
        const { marks } = itemOf(await callers[name].get(path));
        expect(marks).toEqual({ data: [], pagination: { page: 0, size: 20, total: 0, totalPages: 0 } });
      });
      expect(statements.join()).not.toContain('parcel_marks');
    }
    expect(itemOf(await callers.admin.get(path)).marks).toMatchObject({
      data: [{ text: 'FRAGILE' }],
      pagination: { total: 1 },
    });
  });

  describe('whose parents have conditions of their own', () => {
    /** Marks of these conditions, and of parcels of those. */
    const marksOf = async (ofMark: Includable['where'], ofParcel: Includable['where']) => {
      const parent = { entity: Parcel, where: ofParcel } as unknown as Includable;
      const belongsTo = { rows: parent, as: 'marks', by: 'parcel_id', list: String };
      const builder = api
        .repository(ParcelMark)
        .createQueryBuilder('mark') as unknown as SelectQueryBuilder<IncludedRow>;
      const child = { entity: ParcelMark, where: ofMark, belongsTo } as unknown as Includable;
      return onlyReadable(builder, child, undefined).getCount();
    };

    it('obey both, however their parameters are numbered', async () => {
      const { id } = await pack({});
      await api.repository(ParcelMark).insert({ parcel_id: id, text: 'heavy' });
      const ofMark = (version: number) => (rows: SelectQueryBuilder<IncludedRow>) => void rows.andWhere({ version });
      const ofParcel = (one: number) => (rows: SelectQueryBuilder<IncludedRow>) => void rows.andWhere({ id: one });

      expect(await marksOf(ofMark(1), ofParcel(id))).toBe(1);
      expect(await marksOf(ofMark(2), ofParcel(id))).toBe(0);
      expect(await marksOf(ofMark(id), ofParcel(id))).toBe(id === 1 ? 1 : 0);
      expect(await marksOf(ofMark(1), ofParcel(id + 1))).toBe(0);
      await api.repository(Parcel).delete(id);
    });

    it('are refused where a parameter has two values', async () => {
      const of = (value: number) => (rows: SelectQueryBuilder<IncludedRow>, _: unknown, alias: string) =>
        void rows.andWhere(`${alias}.version = :state`, { state: value });

      await expect(marksOf(of(1), of(2))).rejects.toThrow('parameter :state different values');
      expect(await marksOf(of(1), of(1))).toBeGreaterThanOrEqual(0);
    });
  });

  it('of one item are no way to an answer of more than 8 MiB', async () => {
    const { id } = await pack({});
    const text = 'x'.repeat(700_000);
    await api.repository(ParcelMark).insert(Array.from({ length: 20 }, () => ({ parcel_id: id, text })));

    for (const version of ['v1', 'v2']) {
      const path = `//api/${version}/parcels`;
      expectError(await callers.admin.get(`${path}/${id}?include=marks`), 'VALIDATION_ERROR', {
        fields: { include: 'bytes' },
      });
    }
    expectError(await callers.admin.get('/parcels?include=marks'), 'VALIDATION_ERROR', { fields: { size: 'bytes' } });
    await api.repository(Parcel).delete(id);
  });

  it('are found in a list whose query has fewer parameters', async () => {
    expect(itemsOf(await api.get('/parcels/few?include=product&fields=id'))[0]).toMatchObject({
      product: { id: product.id },
    });
    expectError(await api.get('/parcels/few?include=none'), 'VALIDATION_ERROR', { fields: { include: 'enum' } });
  });

  it("leave a route's own parameter of the same name alone", async () => {
    expect(itemOf(await api.get('/parcels/own?include=anything'))).toEqual({ id: 1, include: 'anything' });
  });

  it('are refused, 500, where the answer would be wrong without a word', async () => {
    expectError(await api.get('/parcels/torn?include=product'), 'INTERNAL_ERROR');
    expectError(await api.get('/parcels/letter?include=leaflet'), 'INTERNAL_ERROR');
  });

  it('are declared by names that nothing else has, and by attributes that there are', () => {
    const rows = includable(Product, ParcelDto, { readers: 'everyone', toDto: () => ({}) });
    const declare = (name: string) => () => Includes({ [name]: rows })(ParcelDto);

    expect(declare('color')).toThrow('ParcelDto includes color, but has no attribute color_id');
    expect(declare('order')).toThrow('ParcelDto includes order, which is a name of something else already');
    class BoxDto extends ParcelDto {}
    expect(includesOf(BoxDto).map(({ name }) => name)).toEqual(['product', 'order', 'crate', 'marks']);
    expect(includesOf(ResourceDto as never)).toEqual([]);
  });

  it('have the readers whom the routes of their resource have', () => {
    const routes = api.app.nest.get(DeclaredAccess).routes();
    const items = routes.flatMap(({ name, access, targets: [handler] }) => {
      const dto = Reflect.getMetadata(ITEM_TYPE, handler) as (new () => object) | undefined;
      return dto && name.startsWith('GET ') ? [{ dto, access }] : [];
    });
    const relations = items.flatMap(({ dto }) => includesOf(dto)).map(({ rows }) => rows);
    // The public view of a user is for everyone who may read what includes it.
    const compared = relations.filter(({ dto, shown }) => dto === shown && items.some((item) => item.dto === dto));
    const wrong = compared.filter(({ dto, readers }) =>
      items.some(
        ({ dto: other, access }) =>
          other === dto &&
          (access?.kind === 'roles' ? !access.roles.includes(readers as Role) : readers !== 'everyone'),
      ),
    );

    expect(new Set(compared.map(({ dto }) => dto.name)).size).toBeGreaterThan(3);
    expect(wrong.map(({ dto }) => dto.name)).toEqual([]);
  });
});
