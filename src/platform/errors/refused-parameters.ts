import type { FieldViolation } from './api-error';

/** What is known of an exception by which a pipe has refused a parameter of a route. */
export interface Refusal {
  /** The name by which the client knows the parameter. */
  field?: string;
  /** What a pipe that validates a class has found. */
  violations?: FieldViolation[];
}

const refusals = new WeakMap<object, Refusal>();

/** Undefined for what no pipe has thrown. */
export function refusalOf(exception: object): Refusal | undefined {
  return refusals.get(exception);
}

/** Keeps it beside the exception, whose own answer has no place for it. */
export function noteRefusal(exception: object, refusal: Refusal): void {
  refusals.set(exception, { ...refusalOf(exception), ...refusal });
}
