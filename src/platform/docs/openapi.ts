import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import type { Express } from 'express';
import { DataSource } from 'typeorm';
import { DeclaredAccess } from '../auth/declared-access';
import { WHOLE_LISTS } from '../exports/described';
import { RELEASES, type Version } from '../http/api-version';
import { configOf, versioning } from '../routing/versioning';
import type { Deprecation } from '../http/deprecated';
import { Extension } from '../http/route-keys';
import { answeredPaths, METHODS, toldApart, UNNAMED } from './answered-paths';
import { inCanonicalOrder } from './canonical-order';
import { completeOperation } from './complete-operation';
import { DocumentedRoutes, nameOnce } from './documented-routes';
import { COMMON_HEADERS, commonHeaders, shared } from './headers';
import { joinedPaths } from './joined-paths';
import { toJsonSchema } from './json-schema';
import { includedDtos } from './included-schemas';
import { keepingRows } from './kept-rows';
import type { HeadersObject, OperationObject, PathItemObject } from './openapi-types';
import { takeExtension } from './references';
import type { ErrorExample } from './error-examples';
import { anyErrorSchema, PARTS_OF_ERRORS } from './error-schemas';
import { PAGINATION } from './schemas';
import { webhookBodies, webhooksSection } from './webhooks';
import { withXmlNames } from './xml-names';

const describe = (version: Version): string =>
  `
**Try it:** execute \`POST /api/v${version}/auth/tokens\` once. Its answer signs this page in. Then execute any other operation.

- A success is \`{ "code", "message", "data", "timestamp" }\`; a page of a collection also has \`pagination\` beside \`data\`.
- A failure is \`{ "error": { "code", "message", "details", "timestamp" } }\`, with the broken rules or the conflicts in \`fields\`. Each
  status has a schema with its own codes; \`ApiError\` is any of them.
- A read with \`fields\` answers these attributes only, so the schemas of reads require none. A read without \`fields\` answers all
  attributes: those that the schema without \`View\` in its name requires.
- ${PAGING[version]}
- ${WHOLE_LISTS}
- The path names the version. On a path without a version, such as \`/api/users\`, the header
  \`Accept: application/vnd.api+json;version=${version}\` names it, and is also the media type of the answer,
  which is JSON. The operations here list \`application/json\` alone, so that generated clients have one type for each answer.
- With \`Accept: application/xml\` every answer that is JSON here comes as XML, and \`Content-Type: application/xml\` bodies are
  taken wherever JSON is. An attribute is an element of its name, and \`xml\` of a schema names the others: \`response\` is the
  root of an answer, \`item\` an item of a list; numbers, booleans, nulls,
  lists and objects say so by the attribute \`type\`. Errors come as problem details (RFC 9457) to a caller that names
  \`application/problem+json\`.
- \`ETag\` is the version of a resource. With \`If-None-Match\` an unchanged resource is not sent again (304). With
  \`If-Match\` a write is refused when another client has changed the resource since (412).
- With an \`Idempotency-Key\` a POST can be sent again without a second effect, on routes that list the header.
- Every response has an \`X-Request-Id\`. A request may bring its own: 1 to 128 of \`A-Z a-z 0-9 . _ -\`.
- Every path answers \`OPTIONS\` with \`Allow\`, and \`HEAD\` if it answers \`GET\`. Other methods are 405.
- A client without \`PATCH\` sends \`POST\` with \`X-HTTP-Method-Override: PATCH\`, which is that \`PATCH\` in all respects; \`PUT\`
  and \`DELETE\` go too. By default CORS allows pages of other origins \`GET\`, \`POST\`, \`PUT\` and \`DELETE\`, so pages need it.
- In production the service refuses plain HTTP (403), except for the health checks.
- Unknown attributes and parameters are refused. Attributes that a \`PATCH\` leaves out stay as they are.
`.trim();

/** The difference between the versions. */
const PAGING: Record<Version, string> = {
  1: 'Collections are paged by `page` and `size`, and say how many items there are.',
  2: 'Collections are paged by `cursor` and `size`: any page costs the same, and no page skips or repeats an item while other clients write.',
};

type Operation = [path: string, method: string, operation: OperationObject];

/** Makes the OpenAPI 3.1 document of one version of the application. */
export function openApiDocument(app: INestApplication, version: Version): OpenAPIObject {
  const declared = app.get(DeclaredAccess).routes();
  const routes = new DocumentedRoutes(declared);
  const document = toldApart(declared, () =>
    SwaggerModule.createDocument(withoutDefaults(app), head(version), {
      operationIdFactory: (controller, handler) => routes.operationId(controller, handler),
      extraModels: [...includedDtos(declared), ...webhookBodies()],
    }),
  );
  document.paths = answeredPaths(document, declared, version, app.getHttpAdapter().getInstance() as Express);
  complete(document, version, routes, keepingRows(app.get(DataSource).entityMetadatas));
  document.paths = joinedPaths(document.paths);
  Object.assign(document, webhooksSection());
  return inCanonicalOrder(withXmlNames(toJsonSchema(document)));
}

/**
 * A view of the application in which a route without @Version() is in a version of its own, which tells it from the route
 * of the same path that names this version.
 */
function withoutDefaults(app: INestApplication): INestApplication {
  const config = configOf(app);
  const marking = Object.create(config, { getVersioning: { value: () => versioning([UNNAMED]) } }) as object;
  return Object.create(app, { config: { value: marking } }) as INestApplication;
}

function head(version: Version): Omit<OpenAPIObject, 'paths'> {
  const document = new DocumentBuilder()
    .setTitle('Resource API')
    .setDescription(describe(version))
    .setVersion(RELEASES[version])
    .setLicense('MIT', 'https://opensource.org/license/mit')
    .setOpenAPIVersion('3.1.0')
    .addServer('/', 'The server that serves this document, be it local, staging or production')
    .addBearerAuth({
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'JWT',
      description: `The \`access_token\` that POST /api/v${version}/auth/tokens returns. The service verifies its algorithm, key, issuer, audience and expiry, as RFC8725 asks.`,
    })
    .build();
  document.info.contact = { name: 'The operator of this service' };
  Object.assign(document.servers![0], { 'x-internal': false });
  return document;
}

function complete(
  document: OpenAPIObject,
  version: Version,
  routes: DocumentedRoutes,
  keepsRow: (path: string) => boolean,
): void {
  const components = (document.components ??= {});
  const operations = operationsOf(document);
  const { name, schema } = PAGINATION[version];
  const ofAll = { ApiError: anyErrorSchema(raisedIn(operations)), [name]: schema, ...PARTS_OF_ERRORS };
  components.schemas = { ...components.schemas, ...ofAll };
  components.headers = COMMON_HEADERS;
  document.tags = groupsOf(operations);
  for (const [path, method, operation] of operations) {
    const item = takeExtension<boolean>(operation, Extension.ITEM) ?? false;
    const pages = takeExtension<boolean>(operation, Extension.PAGE) ?? false;
    const deprecation = takeExtension<Deprecation>(operation, Extension.DEPRECATION);
    const bodyLimit = takeExtension<number>(operation, Extension.BODY_LIMIT);
    const own = takeExtension<HeadersObject>(operation, Extension.HEADERS) ?? {};
    const headers = { ...commonHeaders(path), ...shared(own, components) };
    const route = routes.routeOf(path, method, operation);
    const access = route?.access;
    const kept = method === 'delete' && keepsRow(path);
    const about = { path, method, access, route, version, item, pages, kept, deprecation, bodyLimit };
    completeOperation(operation, { ...about, headers, components });
  }
  nameOnce(operations.map(([, , operation]) => operation));
}

function raisedIn(operations: Operation[]): ErrorExample[] {
  return operations.flatMap(
    ([, , operation]) => (operation as { [Extension.RAISES]?: ErrorExample[] })[Extension.RAISES] ?? [],
  );
}

/** The groups of operations, each with its first description. */
function groupsOf(operations: Operation[]): { name: string; description: string }[] {
  const descriptions = new Map<string, string>();
  for (const [, , operation] of operations) {
    const description = takeExtension<string>(operation, Extension.GROUP) ?? '';
    for (const name of operation.tags ?? []) descriptions.set(name, descriptions.get(name) || description);
  }
  return [...descriptions].map(([name, description]) => ({ name, description }));
}

function operationsOf({ paths }: OpenAPIObject): Operation[] {
  return Object.entries(paths).flatMap(([path, item]: [string, PathItemObject]) =>
    METHODS.filter((method) => item[method]).map((method): Operation => [path, method, item[method]!]),
  );
}
