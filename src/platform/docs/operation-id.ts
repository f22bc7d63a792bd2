import { singular } from './references';

const VERBS: Record<string, string> = { remove: 'delete', append: 'appendTo' };

/**
 * Derives an operation id: `UsersController.list` becomes `listUsers`, `.get` `getUser`, `.remove` `deleteUser`,
 * `.profile` `getUserProfile`.
 * @param many true if the controller's nouns have ids. Others, such as `health`, keep their number
 */
export function operationId(controller: string, handler: string, many: boolean): string {
  const nouns = controller.replace(/Controller$/, '');
  const [, verb, rest] = /^(list|get|create|replace|update|append|remove)(.*)$/.exec(handler) ?? ['', 'get', handler];
  const noun = many && verb !== 'list' ? singular(nouns) : nouns;
  return (VERBS[verb] ?? verb) + noun + rest.charAt(0).toUpperCase() + rest.slice(1);
}
