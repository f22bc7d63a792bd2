import type { EntityManager } from 'typeorm';
import { ApiError, type FieldViolation, validationError } from '../../platform';
import { Product, ProductStatus } from '../products/product.entity';
import type { CreateOrderItemDto } from './order.dto';

/** Money is added in cents: 100 lines of 1,000 items at ten billion exceed what a double represents exactly. */
const CENTS = 100;
const MAX_TOTAL_CENTS = 999_999_999_999n;
/** The greatest value of the column. */
const MAX_STOCK = 2 ** 31 - 1;

export interface OrderLine extends CreateOrderItemDto {
  name: string;
  unit_price: number;
}

/** The items of an order at current prices. */
export interface Cart {
  lines: OrderLine[];
  /** The total price of the order. */
  total: number;
  /** By their ids. The rows stay locked until the transaction ends. */
  products: Map<number, Product>;
}

/**
 * Looks up the products and prices of the items.
 * @throws {ApiError} VALIDATION_ERROR for an unknown product, a product in two lines, or a total that is too large
 */
export async function fillCart(manager: EntityManager, items: CreateOrderItemDto[]): Promise<Cart> {
  const products = await lockProducts(manager, items);
  requireNone(
    items.flatMap(({ product_id }, index) => [
      ...(isRepeated(items, product_id, index) ? [repeated(index)] : []),
      ...(products.has(product_id) ? [] : [missing(index)]),
    ]),
  );
  const lines = items.map((item) => lineOf(item, products.get(item.product_id)!));
  return { lines, total: totalOf(lines), products };
}

/**
 * Takes the items out of stock, all or none.
 * @throws {ApiError} CONFLICT for a product that is discontinued or out of stock
 */
export async function takeStock(manager: EntityManager, { lines, products }: Cart): Promise<void> {
  lines.forEach((line) => requireAvailable(line, products.get(line.product_id)!));
  await moveStock(manager, lines, '-');
}

/**
 * Returns the items to stock, even those of deleted products.
 * @throws {ApiError} CONFLICT for a product whose stock was set so high meanwhile that it can't take them
 */
export async function returnStock(manager: EntityManager, items: CreateOrderItemDto[]): Promise<void> {
  const products = await lockProducts(manager, items, { deleted: true });
  items.forEach((item) => requireRoom(item, products.get(item.product_id)!));
  await moveStock(manager, items, '+');
}

/**
 * Locks products in the order of their ids: two orders with the same products in another order would deadlock
 * otherwise.
 * @param deleted whether deleted products are included
 */
async function lockProducts(
  manager: EntityManager,
  items: CreateOrderItemDto[],
  { deleted = false } = {},
): Promise<Map<number, Product>> {
  const builder = manager.createQueryBuilder(Product, 'product');
  if (deleted) builder.withDeleted();
  const products = await builder
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

function lineOf(item: CreateOrderItemDto, { name, price }: Product): OrderLine {
  return { ...item, name, unit_price: price };
}

function requireAvailable({ product_id, quantity }: CreateOrderItemDto, { stock, status }: Product): void {
  if (status === ProductStatus.DISCONTINUED) throw discontinued(product_id);
  if (stock < quantity) throw outOfStock(product_id);
}

function requireRoom({ product_id, quantity }: CreateOrderItemDto, { stock }: Product): void {
  if (stock + quantity > MAX_STOCK) throw stockFull(product_id);
}

function totalOf(lines: OrderLine[]): number {
  const cents = lines.map(({ unit_price, quantity }) => inCents(unit_price) * BigInt(quantity));
  const total = cents.reduce((sum, amount) => sum + amount, 0n);
  if (total > MAX_TOTAL_CENTS) throw totalTooLarge();
  return Number(total) / CENTS;
}

function inCents(amount: number): bigint {
  return BigInt(Math.round(amount * CENTS));
}

/** @throws {ApiError} CONFLICT when a price has changed since the client read it */
export function requireTotal({ total }: Cart, expected: number | undefined): void {
  if (expected !== undefined && inCents(expected) !== inCents(total)) throw totalDiffers(total);
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

/** 409 for a product whose stock would exceed the greatest value. */
export const totalDiffers = (total: number): ApiError =>
  new ApiError('CONFLICT', { details: `expected_total: the products cost ${total.toFixed(2)} now` });

/** 409 for a product without enough stock. */
export const outOfStock = (productId: number): ApiError =>
  new ApiError('CONFLICT', { details: `product ${productId}: is out of stock` });

/** 409 */
export const stockFull = (productId: number): ApiError =>
  new ApiError('CONFLICT', { details: `product ${productId}: its stock is full, and can not take the pieces back` });

/** 409 for a product that is no longer sold. */
export const discontinued = (productId: number): ApiError =>
  new ApiError('CONFLICT', { details: `product ${productId}: is discontinued` });
