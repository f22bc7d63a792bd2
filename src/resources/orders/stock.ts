import type { EntityManager } from 'typeorm';
import { anyNumberOf, type ApiError, conflict, type FieldViolation, lockRows, validationError } from '../../platform';
import { Product, ProductStatus } from '../products/product.entity';
import type { CreateOrderItemDto } from './order.dto';

/** Money is added in cents: 100 lines of 1,000 items at ten billion exceed what a double represents exactly. */
const CENTS = 100;
const MAX_TOTAL_CENTS = 999_999_999_999n;
/** The greatest value of the column. */
const MAX_STOCK = 2 ** 31 - 1;
const DISCONTINUED = 'is discontinued';

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
  const products = await lockRows(manager, Product, idsOf(items));
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
 * @throws {ApiError} CONFLICT with all lines whose product is discontinued or out of stock
 */
export async function takeStock(manager: EntityManager, { lines, products }: Cart): Promise<void> {
  const short = lines.flatMap((line, index) => shortageOf(line, products.get(line.product_id)!, index) ?? []);
  if (short.length > 0) throw notAvailable(short);
  await moveStock(manager, lines, '-');
}

/**
 * Returns the items to stock, even those of deleted products.
 * @throws {ApiError} CONFLICT for a product whose stock was set so high meanwhile that it can't take them
 */
export async function returnStock(manager: EntityManager, items: CreateOrderItemDto[]): Promise<void> {
  const products = await lockRows(manager, Product, idsOf(items), { withDeleted: true });
  const full = items.filter((item) => hasNoRoom(item, products.get(item.product_id)!));
  if (full.length > 0) throw stockFull(full.map(({ product_id }) => product_id));
  await moveStock(manager, items, '+');
}

const idsOf = (items: CreateOrderItemDto[]): number[] => items.map(({ product_id }) => product_id);

async function moveStock(manager: EntityManager, items: CreateOrderItemDto[], sign: '+' | '-'): Promise<void> {
  await manager.query(
    `UPDATE products SET stock = stock ${sign} quantity
       FROM unnest(${anyNumberOf('bigint', '$1')}, ${anyNumberOf('integer', '$2')}) AS line (product_id, quantity)
      WHERE id = line.product_id`,
    [idsOf(items), items.map(({ quantity }) => quantity)],
  );
}

function lineOf(item: CreateOrderItemDto, { name, price }: Product): OrderLine {
  return { ...item, name, unit_price: price };
}

/** A line whose product can't be had. */
interface Shortage {
  index: number;
  product_id: number;
  /** The pieces that are left. Undefined for a product that is no longer sold. */
  available?: number;
}

function shortageOf(item: CreateOrderItemDto, { stock, status }: Product, index: number): Shortage | undefined {
  const { product_id, quantity } = item;
  if (status === ProductStatus.DISCONTINUED) return { index, product_id };
  return stock < quantity ? { index, product_id, available: stock } : undefined;
}

const hasNoRoom = ({ quantity }: CreateOrderItemDto, { stock }: Product): boolean => stock + quantity > MAX_STOCK;

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

/** 409 for a total that differs from the expected one. */
export const totalDiffers = (total: number): ApiError =>
  conflict([{ field: 'expected_total', rule: 'total', message: `the products cost ${total.toFixed(2)} now` }]);

/** 409 for products without enough stock, or that are no longer sold. */
export const notAvailable = (lines: Shortage[]): ApiError =>
  conflict(lines.map(toConflict), { details: lines.map(detailOf).join('; ') });

function toConflict({ index, available }: Shortage): FieldViolation {
  const line = `items.${index}`;
  if (available === undefined)
    return { field: `${line}.product_id`, rule: 'stock', message: DISCONTINUED, available: 0 };
  const message = available === 0 ? 'is out of stock' : `must be at most ${available}`;
  return { field: `${line}.quantity`, rule: 'stock', message, available };
}

const detailOf = ({ product_id, available }: Shortage): string =>
  `product ${product_id}: ${available === undefined ? DISCONTINUED : 'is out of stock'}`;

/** 409 for products whose stock would exceed the greatest value. */
export const stockFull = (productIds: number[]): ApiError => {
  const told = 'its stock is full, and can not take the pieces back';
  const conflicts = productIds.map((id) => ({ field: 'status', rule: 'stock', message: `product ${id}: ${told}` }));
  return conflict(conflicts, { details: productIds.map((id) => `product ${id}: ${told}`).join('; ') });
};
