import { KEY_HEADER, NO_KEY } from '../idempotency/idempotent';
import { takesPrecondition } from '../input/if-match';
import { headerText, MAX_HEADERS } from './headers';
import type { HeadersObject, OperationContext, ParameterObject } from './openapi-types';

const TAG = '"1"';
export const ENTITY_TAG = headerText(64, '^"[\\x21\\x23-\\x7e]*"$');
/** Blanks around a header's value don't belong to it. */
const KEY = headerText(255, '^[\\x21-\\x7e]([\\x20-\\x7e]*[\\x21-\\x7e])?$');

/** The conditional headers of a request, and its Idempotency-Key. */
export function conditionParameters(context: OperationContext): ParameterObject[] {
  const { method } = context;
  if (isTaggedRead(context)) {
    return [
      header(
        'If-None-Match',
        'The entity tags of the copies that you have. The answer is 304 when one of them is current.',
        TAG,
      ),
    ];
  }
  const ifMatch = isGuardedWrite(context)
    ? [
        header(
          'If-Match',
          'The entity tag that you have read. The answer is 412 when the resource has changed since.',
          TAG,
        ),
      ]
    : [];
  if (takesKey(context)) {
    const description = `A ${method.toUpperCase()} that is sent again with the same key within 24 hours has no second effect, and gets the same answer. Use a new key, such as a UUID, for each new effect.`;
    return [...ifMatch, header(KEY_HEADER, description, '7f8b5d0e-6f3a-4f7e-9d55-0c0a3c1b2d4e', KEY)];
  }
  return ifMatch;
}

/** The headers of a successful answer that follow from these. */
export function conditionHeaders(status: string, context: OperationContext): HeadersObject {
  const tagged = context.item && ['200', '201', '304'].includes(status);
  return {
    ...(tagged && {
      ETag: { description: 'The version of this representation (RFC 9110, 8.8.3).', schema: ENTITY_TAG, example: TAG },
    }),
    ...(status === '201' &&
      takesKey(context) && {
        'Idempotent-Replayed': {
          description: 'Present when an earlier request with this key got this answer.',
          schema: { type: 'string', enum: ['true'] },
          example: 'true',
        },
      }),
  };
}

export function isTaggedRead({ item, method }: OperationContext): boolean {
  return item && method === 'get';
}

/** True for a route that changes or deletes one row. A POST says so by its handler. */
export function isGuardedWrite({ item, method, path, route }: OperationContext): boolean {
  if (method === 'post') return route !== undefined && takesPrecondition(route.targets[0], route.owner);
  return (item && method === 'put') || (['patch', 'delete'].includes(method) && path.includes('{'));
}

export function takesKey({ item, method, route }: OperationContext): boolean {
  return item && method === 'post' && !route?.targets.some((target) => Reflect.hasMetadata(NO_KEY, target));
}

function header(name: string, description: string, example: string, schema = headerText(MAX_HEADERS)): ParameterObject {
  // The example is in the schema: Swagger UI would send an example of the parameter itself.
  return { name, in: 'header', required: false, description, schema: { ...schema, example } };
}
