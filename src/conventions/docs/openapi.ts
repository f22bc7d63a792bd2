import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import type { Access } from '../../auth/access.decorators';
import { DeclaredAccess, type DeclaredRoute } from '../../auth/declared-access';
import { Extension } from './api.decorators';
import { completeOperation } from './complete-operation';
import { toJsonSchema } from './json-schema';
import type { OperationObject, PathItemObject } from './openapi-types';
import { operationId } from './operation-id';
import { takeExtension } from './references';
import { ERROR_SCHEMA } from './schemas';

const METHODS = ['get', 'put', 'post', 'delete', 'patch'] as const;

const DESCRIPTION = `
**Try it:** execute \`POST /api/v1/auth/tokens\` once; its answer signs this page in. Then execute anything else.

- A success is \`{ "code", "message", "data", "timestamp" }\`; a page of a collection has \`pagination\` beside \`data\`.
- A failure is \`{ "error": { "code", "message", "details", "timestamp" } }\`, with the broken rules in \`fields\`.
- Every response has an \`X-Request-Id\`; a request may bring its own, 1 to 128 of \`A-Z a-z 0-9 . _ -\`.
- Every path answers \`OPTIONS\` with \`Allow\`, and \`HEAD\` where it answers \`GET\`.
- Unknown attributes and parameters are refused. Attributes that a \`PATCH\` leaves out stay as they are.
`;

type Operation = [path: string, method: string, operation: OperationObject];

interface DocumentedRoute {
  operationId: string;
  access: Access | undefined;
}

/** The OpenAPI 3.1 document of the running application. */
export function openApiDocument(app: INestApplication): OpenAPIObject {
  const routes = documentedRoutes(app.get(DeclaredAccess).routes());
  const document = SwaggerModule.createDocument(app, head(), {
    operationIdFactory: (controller, handler) => routes.get(`${controller}.${handler}`)?.operationId ?? handler,
  });
  const accesses = new Map([...routes.values()].map((route) => [route.operationId, route.access]));
  complete(document, (operation) => accesses.get(operation.operationId ?? ''));
  return toJsonSchema(document);
}

function head(): Omit<OpenAPIObject, 'paths'> {
  const document = new DocumentBuilder()
    .setTitle('Resource API')
    .setDescription(DESCRIPTION.trim())
    .setVersion('1.0.0')
    .setLicense('MIT', 'https://opensource.org/license/mit')
    .setOpenAPIVersion('3.1.0')
    .addServer('/', 'This server')
    .addBearerAuth({
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'JWT',
      description: 'The `access_token` that POST /api/v1/auth/tokens answers.',
    })
    .build();
  // The builder sets an empty one.
  delete document.info.contact;
  return document;
}

function documentedRoutes(routes: DeclaredRoute[]): Map<string, DocumentedRoute> {
  const withIds = new Set(routes.filter(({ name }) => name.includes(':')).map(({ controller }) => controller));
  return new Map(
    routes.map(({ controller, handler, access }) => [
      `${controller}.${handler}`,
      { operationId: operationId(controller, handler, withIds.has(controller)), access },
    ]),
  );
}

function complete(document: OpenAPIObject, accessTo: (operation: OperationObject) => Access | undefined): void {
  const components = (document.components ??= {});
  components.schemas = { ...components.schemas, Error: ERROR_SCHEMA };
  components.headers = {
    'X-Request-Id': { description: 'Names this request in the log.', schema: { type: 'string' }, example: 'a1b2c3' },
  };
  const operations = operationsOf(document);
  document.tags = groupsOf(operations);
  for (const [path, method, operation] of operations) {
    completeOperation(operation, { path, method, access: accessTo(operation), components });
  }
}

/** The groups of operations in the order of their modules, those of the API first. */
function groupsOf(operations: Operation[]): { name: string; description: string }[] {
  const descriptions = new Map<string, string>();
  for (const [, , operation] of operations) {
    const description = takeExtension<string>(operation, Extension.GROUP) ?? '';
    for (const name of operation.tags ?? []) descriptions.set(name, descriptions.get(name) || description);
  }
  const names = (inside: boolean) =>
    operations.filter(([path]) => path.startsWith('/api/') === inside).flatMap(([, , { tags = [] }]) => tags);
  const groups = new Set([...names(true), ...names(false)]);
  return [...groups].map((name) => ({ name, description: descriptions.get(name) ?? '' }));
}

function operationsOf({ paths }: OpenAPIObject): Operation[] {
  return Object.entries(paths).flatMap(([path, item]: [string, PathItemObject]) =>
    METHODS.filter((method) => item[method]).map((method): Operation => [path, method, item[method]!]),
  );
}
