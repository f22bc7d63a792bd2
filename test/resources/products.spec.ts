import { aProduct, anOrderOf } from '../support/builders';
import { type TestUser, useTestApi } from '../support/test-api';

describe('/products', () => {
  const api = useTestApi();
  let admin: TestUser;

  beforeAll(async () => {
    admin = await api.admin();
  });

  it('creates with defaults, and shows all of it to anyone', async () => {
    const { body } = await api.as(admin).post('/products', { name: 'Espresso cup', price: 9.95 });

    expect((await api.get(`/products/${body.data.id}`)).body.data).toEqual({
      id: body.data.id,
      created_at: expect.any(String),
      updated_at: expect.any(String),
      version: 1,
      name: 'Espresso cup',
      description: null,
      price: 9.95,
      stock: 0,
      status: 'ACTIVE',
      image: null,
    });
  });

  it.each([0, 0.01, 0.1, 1.1, 19.99, 1234567.89, 9999999999.99])('keeps the price %d exactly', async (price) => {
    const { body } = await api.as(admin).post('/products', aProduct({ price }));

    expect(body.data.price).toBe(price);
    expect((await api.get(`/products/${body.data.id}`)).text).toContain(`"price":${price},`);
  });

  it('lets two products have one name', async () => {
    const twice = aProduct({ name: 'Twice' });

    expect(await api.as(admin).post('/products', twice)).toMatchObject({ status: 201 });
    expect(await api.as(admin).post('/products', twice)).toMatchObject({ status: 201 });
  });

  it('hides a deleted product, and leaves the orders of it as they were', async () => {
    const { data: product } = (await api.as(admin).post('/products', aProduct({ name: 'Short-lived' }))).body;
    const buyer = await api.user();
    const { data: order } = (await api.as(buyer).post('/orders', anOrderOf(product))).body;

    expect(await api.as(admin).delete(`/products/${product.id}`)).toMatchObject({ status: 204 });
    expect(await api.get(`/products/${product.id}`)).toMatchObject({
      status: 404,
      body: { error: { code: 'NOT_FOUND' } },
    });
    expect((await api.get('/products?search=Short-lived')).body.pagination.total).toBe(0);
    expect((await api.as(buyer).get(`/orders/${order.id}`)).body.data).toEqual(order);
    expect(await api.as(buyer).post('/orders', anOrderOf(product))).toMatchObject({ status: 400 });
    expect(await api.as(buyer).patch(`/orders/${order.id}/status`, { status: 'CANCELLED' })).toMatchObject({
      status: 200,
    });
  });
});
