import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { DeclaredAccess } from '../../auth/declared-access';
import { completeOperation } from './complete-operation';
import { ERROR_SCHEMA } from './error-responses';
import { toJsonSchema } from './json-schema';
import type { OperationObject, PathItemObject } from './openapi-types';

const METHODS = ['get', 'put', 'post', 'delete', 'patch'] as const;

const DESCRIPTION = `
A resource-oriented HTTP API.

**Try it:** execute \`POST /api/v1/auth/tokens\` once; its answer signs this page in. Then execute anything else.

Every success has one envelope, every error another; each response carries \`X-Request-Id\`. Collections share
\`page\`, \`size\`, \`sort\`, \`order\`, \`search\` and \`fields\`.
`;

/** The OpenAPI 3.1 document of the running application. */
export function openApiDocument(app: INestApplication): OpenAPIObject {
  const config = new DocumentBuilder()
    .setTitle('Resource API')
    .setDescription(DESCRIPTION)
    .setVersion('1.0.0')
    .setLicense('MIT', 'https://opensource.org/license/mit')
    .setOpenAPIVersion('3.1.0')
    .addServer('/', 'This server')
    .addBearerAuth({
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'JWT',
      description: 'Signs in by POST /auth/tokens.',
    })
    .build();
  const document = SwaggerModule.createDocument(app, config, { operationIdFactory: operationId });
  complete(document, app.get(DeclaredAccess));
  return toJsonSchema(document);
}

/** `UsersController.get` is `getUser`, `UsersController.list` is `listUsers`. */
export function operationId(controller: string, method: string): string {
  const nouns = controller.replace(/Controller$/, '');
  return method + (method.startsWith('list') ? nouns : singular(nouns));
}

function singular(nouns: string): string {
  return nouns.replace(/ies$/, 'y').replace(/([^s])s$/, '$1');
}

function complete(document: OpenAPIObject, declared: DeclaredAccess): void {
  const accesses = new Map(
    declared.routes().map(({ controller, handler, access }) => [operationId(controller, handler), access]),
  );
  const components = (document.components ??= {});
  components.schemas = { ...components.schemas, Error: ERROR_SCHEMA };
  components.headers = {
    'X-Request-Id': { description: 'Names this request in the log.', schema: { type: 'string' }, example: 'a1b2c3' },
  };
  for (const [path, method, operation] of operationsOf(document)) {
    completeOperation(operation, { path, method, access: accesses.get(operation.operationId ?? ''), components });
  }
}

function operationsOf({ paths }: OpenAPIObject): [path: string, method: string, operation: OperationObject][] {
  return Object.entries(paths).flatMap(([path, item]: [string, PathItemObject]) =>
    METHODS.filter((method) => item[method]).map(
      (method) => [path, method, item[method] as OperationObject] as [string, string, OperationObject],
    ),
  );
}
