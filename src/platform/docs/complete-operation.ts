import type { Access } from '../auth/access.decorators';
import { peopleWith } from '../auth/caller';
import { MAX_INPUTS } from '../input/input-limits';
import { Extension } from '../http/route-keys';
import { WHOLE_LIST } from '../exports/described';
import { completeBody } from './complete-body';
import { completeParameters } from './complete-parameters';
import { completeResponses } from './complete-responses';
import type { OperationContext, OperationObject } from './openapi-types';
import { takeExtension } from './references';
import { secure } from './security-schemes';

/** Tells generators, such as that of the client, which operations take lists. */
const TAKES_LIST = 'x-list-of-inputs';
/**
 * A second body and a second answer in the document would make unions of generated types, for callers who create one
 * (D-225).
 */
const MANY =
  `The body may also be a list of 1 to ${MAX_INPUTS.toLocaleString('en')} inputs, or \`application/x-ndjson\` with an input on ` +
  'each line. All of them are created, or none: `data` is the list of what was created, in the order of the inputs. Fields ' +
  'of errors begin with the position of the input, such as `3.name`. With `Prefer: handling=lenient` (RFC 7240) each input has ' +
  'a result of its own: the answer is 207, and `data` is a list of `{ "status": 201, "data": {} }` and ' +
  '`{ "status": 400, "error": {} }`. One `Idempotency-Key` is for all of them.';

/** Completes an operation with what follows from its path, body and access, so that resources needn't repeat it. */
export function completeOperation(operation: OperationObject, context: OperationContext): void {
  describe(operation, context);
  secure(operation, context);
  deprecate(operation, context);
  completeParameters(operation, context);
  completeBody(operation, context);
  completeResponses(operation, context);
}

function describe(operation: OperationObject, { access, pages }: OperationContext): void {
  // A doc comment is a sentence; a summary has no full stop.
  operation.summary = operation.summary?.replace(/\.$/, '');
  const many = takeExtension(operation, Extension.EACH) ? MANY : undefined;
  if (many) Object.assign(operation, { [TAKES_LIST]: { maxItems: MAX_INPUTS } });
  const parts = [operation.description, many, pages && WHOLE_LIST, `For ${audience(access)}.`];
  operation.description = parts.filter(Boolean).join('\n\n');
}

function audience(access: Access | undefined): string {
  return access?.kind === 'roles' ? peopleWith(access.roles) : 'everyone';
}

function deprecate(operation: OperationObject, { deprecation }: OperationContext): void {
  if (!deprecation) return;
  operation.deprecated = true;
  const { since, sunset, link } = deprecation;
  const notice = [`Deprecated since ${since}`, sunset && `gone from ${sunset}`, link && `see ${link}`];
  operation.description = [operation.description, `${notice.filter(Boolean).join(', ')}.`].join('\n\n');
}
