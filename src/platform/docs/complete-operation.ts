import type { Access } from '../auth/access.decorators';
import { peopleWith } from '../auth/caller';
import { completeBody } from './complete-body';
import { completeParameters } from './complete-parameters';
import { completeResponses } from './complete-responses';
import type { OperationContext, OperationObject } from './openapi-types';
import { secure } from './security-schemes';

/** Completes an operation with what follows from its path, body and access, so that resources needn't repeat it. */
export function completeOperation(operation: OperationObject, context: OperationContext): void {
  describe(operation, context);
  secure(operation, context);
  deprecate(operation, context);
  completeParameters(operation, context);
  completeBody(operation, context);
  completeResponses(operation, context);
}

function describe(operation: OperationObject, { access }: OperationContext): void {
  // A doc comment is a sentence; a summary has no full stop.
  operation.summary = operation.summary?.replace(/\.$/, '');
  operation.description = [operation.description, `For ${audience(access)}.`].filter(Boolean).join('\n\n');
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
