import type { FieldViolation } from './api-error';

/** What is known about a parameter that a pipe has refused. */
export interface Refusal {
  /** The name of the parameter as the client knows it. */
  field?: string;
  /** The violations that a validating pipe has found. */
  violations?: FieldViolation[];
}

const refusals = new WeakMap<object, Refusal>();

/** Undefined for an exception that no pipe has thrown. */
export function refusalOf(exception: object): Refusal | undefined {
  return refusals.get(exception);
}

/** Remembers a refusal beside its exception, which has no property for it. */
export function noteRefusal(exception: object, refusal: Refusal): void {
  refusals.set(exception, { ...refusalOf(exception), ...refusal });
}
