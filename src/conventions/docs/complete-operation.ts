import type { Access } from '../../auth/access.decorators';
import { type ErrorCode, ERRORS } from '../errors/error-codes';
import { RAISES } from './api.decorators';
import { errorResponse } from './error-responses';
import type {
  ComponentsObject,
  HeadersObject,
  OperationObject,
  ParameterObject,
  ResponseObject,
} from './openapi-types';

export interface OperationContext {
  path: string;
  method: string;
  access: Access | undefined;
  /** Of the document; gets the responses that the operation refers to. */
  components: ComponentsObject;
}

/** Adds to an operation what follows from its path, its body and its access, so that no resource has to repeat it. */
export function completeOperation(operation: OperationObject, context: OperationContext): void {
  secure(operation, context);
  describeParameters(operation, context);
  describeHeaders(operation, context);
  describeErrors(operation, context);
}

function secure(operation: OperationObject, { access }: OperationContext): void {
  // An empty requirement beside the other: a token is welcome and not needed.
  if (access?.kind === 'roles') operation.security = [{ bearer: [] }];
  else operation.security = access?.identifies ? [{ bearer: [] }, {}] : [];
}

function describeParameters(operation: OperationObject, { method }: OperationContext): void {
  const parameters = (operation.parameters ??= []) as ParameterObject[];
  for (const parameter of parameters.filter((one) => one.in === 'path')) {
    parameter.schema = { type: 'integer', format: 'int64', minimum: 1 };
    parameter.example = 1;
    parameter.description ??= 'The id of the resource.';
  }
  if (method !== 'get' || !readsOneItem(operation)) return;
  parameters.push({
    name: 'fields',
    in: 'query',
    required: false,
    description: 'Comma-separated names of the attributes to return; all when left out.',
    schema: { type: 'string' },
    example: 'id',
  });
}

function readsOneItem({ responses }: OperationObject): boolean {
  const schema = (responses['200'] as ResponseObject | undefined)?.content?.['application/json']?.schema;
  const data = (schema as { properties?: { data?: object } } | undefined)?.properties?.data;
  return data !== undefined && '$ref' in data;
}

function describeHeaders({ responses }: OperationObject, _context: OperationContext): void {
  for (const [status, response] of Object.entries(responses) as [string, ResponseObject][]) {
    const headers: HeadersObject = { 'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' } };
    if (status === '201') headers.Location = { description: 'Where it is from now on.', schema: { type: 'string' } };
    if (JSON.stringify(response).includes('"pagination"')) {
      headers.Link = { description: 'first, prev, next and last page (RFC 8288).', schema: { type: 'string' } };
    }
    response.headers = { ...headers, ...response.headers };
  }
}

function describeErrors(operation: OperationObject, context: OperationContext): void {
  const errors = errorsOf(operation, context);
  const responses = (context.components.responses ??= {});
  for (const status of new Set(errors.map((code) => ERRORS[code].status))) {
    const codes = errors.filter((code) => ERRORS[code].status === status);
    const name = codes.join('_OR_');
    responses[name] ??= errorResponse(codes) as unknown as ResponseObject;
    operation.responses[status] ??= { $ref: `#/components/responses/${name}` } as unknown as ResponseObject;
  }
}

function errorsOf(operation: OperationObject, { path, access }: OperationContext): ErrorCode[] {
  const extensions = operation as unknown as Record<string, ErrorCode[] | undefined>;
  const raised = extensions[RAISES] ?? [];
  delete extensions[RAISES];
  const always: ErrorCode[] = ['VALIDATION_ERROR', 'INTERNAL_ERROR', 'SERVICE_UNAVAILABLE'];
  const roles: ErrorCode[] = ['UNAUTHORIZED', 'FORBIDDEN'];
  const identified: ErrorCode[] = ['UNAUTHORIZED'];
  const notFound: ErrorCode = /\/users\/\{/.test(path) ? 'USER_NOT_FOUND' : 'NOT_FOUND';
  const body: ErrorCode[] = ['PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'];
  return [
    ...new Set([
      ...always,
      ...(access?.kind === 'roles' ? roles : access?.identifies ? identified : []),
      ...(path.includes('{') ? [notFound] : []),
      ...(operation.requestBody ? body : []),
      ...raised,
    ]),
  ].sort((one, other) => ERRORS[one].status - ERRORS[other].status);
}
