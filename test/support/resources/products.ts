import { CreateProductDto } from '../../../src/resources/products/product.dto';
import { Product } from '../../../src/resources/products/product.entity';
import type { Fixtures } from '../fixtures';
import { aProduct } from '../builders';
import { on, plain } from '../prepared-request';
import { common, each, type Resource } from '../resource';
import { imageKey, money, oneOf, text, whole } from '../values';

const product = (own: Fixtures) => own.product();
export const products: Resource = {
  noun: 'products',
  requests: {
    'GET /api/v1/products': plain,
    'GET /api/v1/products/:id': on(product),
    'POST /api/v1/products': () => ({ body: aProduct() }),
    'PUT /api/v1/products/:id': on(product, aProduct()),
    'PATCH /api/v1/products/:id': on(product, { stock: 1 }),
    'DELETE /api/v1/products/:id': on(product),
  },
  writable: {
    input: CreateProductDto,
    attributes: {
      name: text({ min: 1, max: 120 }),
      description: text({ max: 2_000, multiline: true, nullable: true }),
      price: money,
      stock: whole({ min: 0, max: 2 ** 31 - 1 }),
      status: oneOf('ACTIVE', 'DISCONTINUED'),
      image: imageKey,
    },
    required: ['name', 'price'],
    replaceable: true,
    least: () => aProduct({ stock: undefined }),
  },
  collections: [
    {
      name: '/products',
      table: 'products',
      attributes: [...common, 'name', 'description', 'price', 'stock', 'status', 'image'],
      sortable: Product,
      statuses: ['ACTIVE', 'DISCONTINUED'],
      textsOf: ({ name, description }) => [name, description],
      fill: (own, _others, lines) =>
        each(lines, ({ text, index, even, dates }) => {
          const stock = { price: 9.95 * (index % 3), stock: index % 4, status: even ? 'ACTIVE' : 'DISCONTINUED' };
          return own.product({ name: text, description: even ? null : 'Wood', ...stock, ...dates });
        }),
    },
  ],
};
