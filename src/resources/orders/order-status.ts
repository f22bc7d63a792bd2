import { ApiError, conflict } from '../../platform';
import { OrderStatus } from './order.entity';

const { PENDING, PAID, SHIPPED, DELIVERED, CANCELLED } = OrderStatus;

const next: Record<OrderStatus, OrderStatus[]> = {
  [PENDING]: [PAID, CANCELLED],
  [PAID]: [SHIPPED, CANCELLED],
  [SHIPPED]: [DELIVERED],
  [DELIVERED]: [],
  [CANCELLED]: [],
};

/** 409 for a transition that isn't allowed. */
export function transitionNotAllowed(from: OrderStatus, to: OrderStatus): ApiError {
  return conflict([{ field: 'status', rule: 'transition', message: `an order that is ${from} can't become ${to}` }]);
}

/** 403 for an owner who sets a status other than CANCELLED. */
export function mayOnlyCancel(): ApiError {
  return new ApiError('FORBIDDEN', { message: 'The owner of an order may only cancel it' });
}

/** @throws {ApiError} CONFLICT */
export function requireTransition(from: OrderStatus, to: OrderStatus): void {
  if (!next[from].includes(to)) throw transitionNotAllowed(from, to);
}
