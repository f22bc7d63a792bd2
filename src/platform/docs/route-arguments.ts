import type { DeclaredRoute } from '../auth/declared-access';
import { type Parameter, parametersOf, writesItself } from '../http/route-parameters';
import { Verbatim } from '../answers/envelope';

/** Of the handler of a route. */
export const parametersFor = ({ owner, targets: [handler] }: DeclaredRoute): Parameter[] =>
  parametersOf(handler, owner);

/** Whether there is no envelope around what is answered: it is sent by the handler itself, or as it is. */
export function sendsItself(route: DeclaredRoute | undefined): boolean {
  if (!route) return false;
  const { owner, handler, targets } = route;
  if (Reflect.getMetadata('design:returntype', owner.prototype as object, handler) === Verbatim) return true;
  return writesItself(targets[0], owner);
}
