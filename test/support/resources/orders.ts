import { Order } from '../../../src/resources/orders/order.entity';
import type { Fixtures } from '../fixtures';
import { anOrderOf } from '../builders';
import { on, plain } from '../prepared-request';
import { common, each, type Resource } from '../resource';
import { oneOf, whole } from '../values';

export const ORDER_STATUS = oneOf('PENDING', 'PAID', 'SHIPPED', 'DELIVERED', 'CANCELLED');
export const QUANTITY = whole({ min: 1, max: 1_000 });

const order = (own: Fixtures) => own.order();
export const orders: Resource = {
  noun: 'orders',
  requests: {
    'GET /api/v1/orders': plain,
    'GET /api/v1/orders/:id': on(order),
    'POST /api/v1/orders': async (own) => ({ body: anOrderOf(await own.product()) }),
    'PUT /api/v1/orders/:id/status': on(order, { status: 'CANCELLED' }),
    'PATCH /api/v1/orders/:id/status': on(order, { status: 'CANCELLED' }),
  },
  collections: [
    {
      name: '/orders',
      table: 'orders',
      attributes: [...common, 'user_id', 'status', 'items', 'total_amount'],
      sortable: Order,
      statuses: ['PENDING', 'PAID', 'SHIPPED', 'DELIVERED', 'CANCELLED'],
      textsOf: ({ items }) => (items as { name: string }[]).map(({ name }) => name),
      async fill(own, others, lines) {
        const sold = await own.product();
        await each(lines, ({ text, index, even, dates }) => {
          const status = ['PENDING', 'PAID', 'SHIPPED', 'DELIVERED', 'CANCELLED'][index % 5];
          const attributes = { status, total_amount: index % 3, ...dates };
          return (even ? own : others).order(attributes, { ...sold, name: text });
        });
      },
    },
  ],
};
