import type { Access } from '../auth/access.decorators';
import { AuthenticationError, roleMissing } from '../auth/auth-errors';
import { Role } from '../auth/caller';
import { StaleVersionError } from '../transactions/precondition';
import { ApiError, validationError } from '../errors/api-error';
import { stillInUse } from '../errors/database-errors';
import { notFound } from '../errors/not-found';
import { toApiError } from '../errors/to-api-error';
import { inProgress, keyReused, tooManyKeys } from '../idempotency/idempotency-keys';
import { ANY_TYPE, notAcceptable } from '../pipeline/accept.guard';
import { CREATES_EACH } from '../http/route-keys';
import { notAnId } from '../input/id.pipe';
import { notAKey } from '../input/key.pipe';
import { LIST_TYPES, unsupportedMediaType, withXml } from '../pipeline/media-types';
import { bodyTooLarge } from '../pipeline/body-limit';
import { writtenTooMuch } from '../pipeline/write-quota';
import { isGuardedWrite, takesKey } from './conditions';
import type {
  OperationContext,
  OperationObject,
  ParameterObject,
  RequestBodyObject,
  ResponseObject,
} from './openapi-types';
import { isIdentity, isKeyParameter } from './path-parameters';
import { nounsBefore, resolve } from './references';

/** Parameters that no class of a query declares. */
const OF_EVERY_ITEM = ['fields', 'include'];
/** A name that no route and no body has. */
const field = 'colour';

/** The errors that follow from an operation's path, body and access, one of each kind. */
export function expectedErrors(operation: OperationObject, context: OperationContext): Error[] {
  return [
    ...inputErrors(operation, context),
    ...acceptErrors(operation, context),
    ...accessErrors(context.access),
    ...notFoundErrors(context),
    ...(isGuardedWrite(context) ? [toApiError(new StaleVersionError(2))] : []),
    ...(context.kept ? [stillInUse()] : []),
    ...(takesKey(context) ? [inProgress(), keyReused(), tooManyKeys()] : []),
    ...(isLimitedWrite(operation, context) ? [writtenTooMuch(3600)] : []),
    ...bodyErrors(operation, context),
    new ApiError('INTERNAL_ERROR'),
    new ApiError('SERVICE_UNAVAILABLE'),
  ];
}

function inputErrors(operation: OperationObject, context: OperationContext): Error[] {
  const parameters = operation.parameters as ParameterObject[];
  const declaresQuery = parameters.some(
    (parameter) => parameter.in === 'query' && !OF_EVERY_ITEM.includes(parameter.name),
  );
  const message = declaresQuery ? 'is not known here' : 'is not a parameter of this route';
  return [
    ...(takesJson(operation) ? [invalidBody(operation, context)] : []),
    ...parameters
      .filter((parameter) => parameter.in === 'path' && isIdentity(context, parameter.name))
      .map(({ name }) => (isKeyParameter(context, name) ? notAKey(name) : notAnId(name))),
    validationError([{ field, rule: 'unknown', message }]),
  ];
}

/** The error for an empty body, or, if that is valid, for a body with an unknown attribute. */
function invalidBody({ requestBody }: OperationObject, { components }: OperationContext): Error {
  const schema = (requestBody as RequestBodyObject).content['application/json']?.schema;
  const { required = [] } = schema ? resolve(schema, components) : {};
  if (required.length === 0) return validationError([{ field, rule: 'unknown', message: 'is not known here' }]);
  return validationError(required.map((name) => ({ field: name, rule: 'required', message: 'is required' })));
}

function acceptErrors(operation: OperationObject, { path }: OperationContext): Error[] {
  const produced = producedBy(operation);
  return path.startsWith('/api/') && produced !== ANY_TYPE ? [notAcceptable(produced)] : [];
}

/** The media types that a route produces instead of JSON or beside it, as it names them. */
function producedBy({ responses }: OperationObject): string | undefined {
  const mediaTypes = Object.keys((responses['200'] as ResponseObject | undefined)?.content ?? {}).join(', ');
  return mediaTypes === '' || mediaTypes === 'application/json' ? undefined : mediaTypes;
}

function accessErrors(access: Access | undefined): Error[] {
  if (access?.kind === 'public') return access.identifies ? [AuthenticationError.invalidToken()] : [];
  const unauthorized = [AuthenticationError.noToken(), AuthenticationError.invalidToken()];
  // Every user has the role USER.
  return access?.roles.includes(Role.USER) ? unauthorized : [...unauthorized, roleMissing()];
}

function notFoundErrors(context: OperationContext): Error[] {
  const nouns = nounsBefore(context.path, (name) => isIdentity(context, name));
  // A path parameter that is neither id nor key doesn't tell the noun.
  if (nouns.length === 0 && context.path.includes('{')) return [new ApiError('NOT_FOUND')];
  return nouns.map((noun) => notFound(noun));
}

function bodyErrors(operation: OperationObject, { method, bodyLimit, route }: OperationContext): Error[] {
  const takesList = route && Reflect.hasMetadata(CREATES_EACH, route.targets[0]);
  const types = takesList ? withXml(LIST_TYPES) : undefined;
  return takesJson(operation) ? [bodyTooLarge(bodyLimit), unsupportedMediaType(method.toUpperCase(), types)] : [];
}

/** True if what users send by the route counts for WRITE_QUOTA. Administrators are not limited. */
function isLimitedWrite(operation: OperationObject, { access, method }: OperationContext): boolean {
  const isByUser = access?.kind === 'public' ? access.identifies : access?.roles.some((role) => role !== Role.ADMIN);
  if (!isByUser) return false;
  return method === 'post' || (['put', 'patch'].includes(method) && takesJson(operation));
}

/** True if the route accepts JSON. Other routes declare the errors of their bodies themselves. */
function takesJson({ requestBody }: OperationObject): boolean {
  return (requestBody as RequestBodyObject | undefined)?.content['application/json'] !== undefined;
}
