import type { EntityManager } from 'typeorm';
import { ApiError, type FieldViolation, validationError } from '../../conventions/errors/api-error';
import { Product, ProductStatus } from '../products/product.entity';
import type { CreateOrderItemDto } from './order.dto';

/** Money is added up in cents: 100 lines of 1,000 times ten billion exceed what a double holds exactly. */
const CENTS = 100;
const MAX_TOTAL_CENTS = 999_999_999_999n;

export interface OrderLine extends CreateOrderItemDto {
  name: string;
  unit_price: number;
}

/**
 * Takes the items out of stock, all of them or, by throwing, none. The rows stay locked until the transaction ends.
 * @throws {ApiError} VALIDATION_ERROR for a product that isn't there or stands in two lines, or a total too large;
 *   CONFLICT for one that is discontinued or out of stock
 */
export async function takeStock(
  manager: EntityManager,
  items: CreateOrderItemDto[],
): Promise<{ lines: OrderLine[]; total: number }> {
  requireNone(
    items.flatMap(({ product_id }, index) => (isRepeated(items, product_id, index) ? [repeated(index)] : [])),
  );
  const products = await lockProducts(manager, items);
  requireNone(items.flatMap(({ product_id }, index) => (products.has(product_id) ? [] : [missing(index)])));
  const lines = items.map((item) => lineOf(item, products.get(item.product_id)!));
  const total = totalOf(lines);
  await moveStock(manager, items, '-');
  return { lines, total };
}

/** Puts the items back into stock. */
export async function returnStock(manager: EntityManager, items: CreateOrderItemDto[]): Promise<void> {
  await lockProducts(manager, items);
  await moveStock(manager, items, '+');
}

/** In the order of their ids: two orders with the same products in another order of lines would deadlock otherwise. */
async function lockProducts(manager: EntityManager, items: CreateOrderItemDto[]): Promise<Map<number, Product>> {
  const products = await manager
    .createQueryBuilder(Product, 'product')
    .where('product.id = ANY(:ids)', { ids: items.map(({ product_id }) => product_id) })
    .orderBy('product.id')
    .setLock('for_no_key_update')
    .getMany();
  return new Map(products.map((product) => [product.id, product]));
}

async function moveStock(manager: EntityManager, items: CreateOrderItemDto[], sign: '+' | '-'): Promise<void> {
  await manager.query(
    `UPDATE products SET stock = stock ${sign} quantity
       FROM unnest($1::bigint[], $2::integer[]) AS line (product_id, quantity) WHERE id = line.product_id`,
    [items.map(({ product_id }) => product_id), items.map(({ quantity }) => quantity)],
  );
}

function lineOf(item: CreateOrderItemDto, { name, price, stock, status }: Product): OrderLine {
  if (status === ProductStatus.DISCONTINUED) throw discontinued(item.product_id);
  if (stock < item.quantity) throw outOfStock(item.product_id);
  return { ...item, name, unit_price: price };
}

function totalOf(lines: OrderLine[]): number {
  const cents = lines.map(({ unit_price, quantity }) => BigInt(Math.round(unit_price * CENTS)) * BigInt(quantity));
  const total = cents.reduce((sum, amount) => sum + amount, 0n);
  if (total > MAX_TOTAL_CENTS) throw totalTooLarge();
  return Number(total) / CENTS;
}

function isRepeated(items: CreateOrderItemDto[], productId: number, index: number): boolean {
  return items.findIndex(({ product_id }) => product_id === productId) < index;
}

function requireNone(violations: FieldViolation[]): void {
  if (violations.length > 0) throw validationError(violations);
}

const repeated = (index: number): FieldViolation => ({
  field: `items.${index}.product_id`,
  rule: 'unique',
  message: 'must not stand in two lines',
});

const missing = (index: number): FieldViolation => ({
  field: `items.${index}.product_id`,
  rule: 'exists',
  message: 'must be a product',
});

const totalTooLarge = (): ApiError =>
  validationError([{ field: 'items', rule: 'total', message: 'must not cost more than 9999999999.99 together' }]);

/** 409 */
export const outOfStock = (productId: number): ApiError =>
  new ApiError('CONFLICT', { details: `product ${productId}: is out of stock` });

/** 409 */
export const discontinued = (productId: number): ApiError =>
  new ApiError('CONFLICT', { details: `product ${productId}: is discontinued` });
