import type { INestApplication } from '@nestjs/common';
import type { ApplicationConfig } from '@nestjs/core';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { DeclaredAccess } from '../auth/declared-access';
import { tablePathOf } from '../routing/route-versions';
import type { Version } from '../http/api-version';
import { versioning } from '../routing/versioning';
import type { Deprecation } from '../http/deprecated';
import { Extension } from '../http/route-keys';
import { completeOperation } from './complete-operation';
import { DocumentedRoutes, nameOnce } from './documented-routes';
import { COMMON_HEADERS, commonHeaders, shared } from './headers';
import { toJsonSchema } from './json-schema';
import type { HeadersObject, OperationObject, PathItemObject } from './openapi-types';
import { takeExtension } from './references';
import type { ErrorExample } from './error-examples';
import { errorSchema } from './schemas';

const METHODS = ['get', 'put', 'post', 'delete', 'patch'] as const;

const describe = (version: Version): string =>
  `
**Try it:** execute \`POST /api/v${version}/auth/tokens\` once; its answer signs this page in. Then execute anything else.

- A success is \`{ "code", "message", "data", "timestamp" }\`; a page of a collection has \`pagination\` beside \`data\`.
- A failure is \`{ "error": { "code", "message", "details", "timestamp" } }\`, with the broken rules in \`fields\`.
- ${PAGING[version]}
- Versions are named in the path, or on the unversioned path, such as \`/api/users\`, by
  \`Accept: application/vnd.api+json;version=${version}\`, which is then also the media type of the answer.
- \`ETag\` is a resource's version: \`If-None-Match\` saves reading it again (304), and \`If-Match\` keeps a write from undoing
  another's (412).
- With an \`Idempotency-Key\` a POST can be repeated without a second effect, where it is listed among the parameters.
- Every response has an \`X-Request-Id\`; a request may bring its own, 1 to 128 of \`A-Z a-z 0-9 . _ -\`.
- Every path answers \`OPTIONS\` with \`Allow\`, and \`HEAD\` where it answers \`GET\`; other methods are 405.
- In production plain HTTP is refused (403), whatever is asked, but for health.
- Unknown attributes and parameters are refused. Attributes that a \`PATCH\` leaves out stay as they are.
`.trim();

/** The one difference between the versions. */
const PAGING: Record<Version, string> = {
  1: 'Collections are paged by `page` and `size`, and say how many items there are.',
  2: 'Collections are paged by `cursor` and `size`: any page costs the same, and none skips or repeats an item while others write.',
};

type Operation = [path: string, method: string, operation: OperationObject];

/** The OpenAPI 3.1 document of one version of the running application. */
export function openApiDocument(app: INestApplication, version: Version): OpenAPIObject {
  const routes = new DocumentedRoutes(app.get(DeclaredAccess).routes());
  const document = SwaggerModule.createDocument(inVersion(app, version), head(version), {
    operationIdFactory: (controller, handler) => routes.operationId(controller, handler),
  });
  document.paths = pathsOf(document, version);
  complete(document, version, routes);
  return toJsonSchema(document);
}

/** The same application, of which a route without @Version() is in this version alone. */
function inVersion(app: INestApplication, version: Version): INestApplication {
  const { config } = app as unknown as { config: ApplicationConfig };
  const ofVersion = Object.create(config, { getVersioning: { value: () => versioning([String(version)]) } }) as object;
  return Object.create(app, { config: { value: ofVersion } }) as INestApplication;
}

/** Without the routes of other versions. What is in all of them is named in this one. */
function pathsOf({ paths }: OpenAPIObject, version: Version): OpenAPIObject['paths'] {
  const versioned = Object.entries<PathItemObject>(paths).flatMap(([path, item]) => {
    const found = tablePathOf(path);
    if (found.version !== undefined && found.version !== version) return [];
    return [[found.path.replace(/^\/api\//, `/api/v${version}/`), withoutAnswered(item)] as const];
  });
  return Object.fromEntries<PathItemObject>(versioned);
}

/** Of a route for all methods: HEAD and OPTIONS are answered everywhere, and OpenAPI has no word for the others. */
function withoutAnswered(item: PathItemObject): PathItemObject {
  const operations = Object.entries(item) as [string, OperationObject][];
  const answered = operations.filter(([method, { operationId }]) => operationId?.endsWith(`_${method}`));
  const kept = new Set<string>(METHODS);
  return Object.fromEntries(operations.filter((one) => kept.has(one[0]) || !answered.includes(one)));
}

function head(version: Version): Omit<OpenAPIObject, 'paths'> {
  const document = new DocumentBuilder()
    .setTitle('Resource API')
    .setDescription(describe(version))
    .setVersion(`${version}.0.0`)
    .setLicense('MIT', 'https://opensource.org/license/mit')
    .setOpenAPIVersion('3.1.0')
    .addServer('/', 'This server: of development, a test or production, whichever serves this document')
    .addBearerAuth({
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'JWT',
      description: `The \`access_token\` that POST /api/v${version}/auth/tokens answers. Verified as RFC8725 asks: by known algorithms, keys, issuers and audiences alone, and no longer than it lasts.`,
    })
    .build();
  document.info.contact = { name: 'Whoever runs this service' };
  Object.assign(document.servers![0], { 'x-internal': false });
  return document;
}

function complete(document: OpenAPIObject, version: Version, routes: DocumentedRoutes): void {
  const components = (document.components ??= {});
  const operations = operationsOf(document);
  components.schemas = { ...components.schemas, Error: errorSchema(raisedIn(operations)) };
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
    const context = { path, method, access, route, version, item, pages, deprecation, bodyLimit, headers, components };
    completeOperation(operation, context);
  }
  nameOnce(operations.map(([, , operation]) => operation));
}

function raisedIn(operations: Operation[]): ErrorExample[] {
  return operations.flatMap(
    ([, , operation]) => (operation as { [Extension.RAISES]?: ErrorExample[] })[Extension.RAISES] ?? [],
  );
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
