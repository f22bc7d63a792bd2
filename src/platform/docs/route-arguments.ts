import type { DeclaredRoute } from '../auth/declared-access';
import { type Parameter, parametersOf, writesItself } from '../http/route-parameters';
import { Verbatim } from '../answers/envelope';

/** The parameters of a route's handler. */
export const parametersFor = ({ owner, targets: [handler] }: DeclaredRoute): Parameter[] =>
  parametersOf(handler, owner);

/** True if the answer has no envelope: the handler sends it itself, or it is sent verbatim. */
export function sendsItself(route: DeclaredRoute | undefined): boolean {
  if (!route) return false;
  const { owner, handler, targets } = route;
  if (Reflect.getMetadata('design:returntype', owner.prototype as object, handler) === Verbatim) return true;
  return writesItself(targets[0], owner);
}
