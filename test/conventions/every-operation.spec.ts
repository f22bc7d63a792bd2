import { readParts, VERSIONS } from '../../scripts/openapi/documents';
import { PLACES } from '../support/tested-places';
import { joined, type OpenApi, partsOf, SHARED } from '../../scripts/openapi/parts';
import type { Client } from '../../src/platform/testing';
import { ALL_ARE_ASKED, lacks } from '../support/asked';
import { BuiltService } from '../support/built-service';
import { examplesIn } from '../support/documented-operation';
import { type Described, Document, examplesOf, type Node } from '../support/openapi';
import { isAsked, routesOf } from '../support/requests';
import { clientOf, useTestApi } from '../support/test-api';

const BUILD_AND_START = 150_000;
const MAX_SUMMARY = 60;
const ID = /^[a-z]+([A-Z][a-z]+)+$/;
const asRoute = (operation: string) => operation.replaceAll(/\{(\w+)\}/g, ':$1');
const places = (poor: Described[]) => poor.map(({ where }) => where);
const isPoor = ({ node }: Described) => !node.description || examplesIn(node).length === 0;

// The compiler's plugin turns doc comments into documentation, so this is about the compiled service.
/** How every operation is documented; the finer points are in openapi.spec.ts. */
describe('every operation', () => {
  const api = useTestApi();
  const served = new Map<number, OpenApi>();
  let service: BuiltService;
  let document: Document;

  beforeAll(async () => {
    service = await BuiltService.start({ DATABASE_URL: api.app.databaseUrl, MIN_FREE_DISK: '0' });
    const anyone: Client = clientOf(() => service.url);
    for (const version of VERSIONS) {
      served.set(version, (await anyone.get(version === 1 ? '//docs/json' : `//docs/v${version}/json`)).body);
    }
    document = new Document(ofAsked(served.get(1)!));
  }, BUILD_AND_START);

  afterAll(() => service?.stop());

  it.each(VERSIONS)('is in the parts of docs/openapi/v%i as it is served', (version) => {
    const [made, kept] = [partsOf(served.get(version)!), readParts(version, PLACES.documents)];
    const files = [...new Set([...made.keys(), ...kept.keys()])];

    lacks(
      files
        .filter((file) => JSON.stringify(made.get(file)) !== JSON.stringify(kept.get(file)))
        .map(
          (file) =>
            `${PLACES.documents}/openapi/v${version}/${file}.json is missing or out of date: run npm run openapi`,
        ),
    );
    expect(JSON.stringify(joined(kept))).toBe(JSON.stringify(served.get(version)));
  });

  it('is a route of the application, and each route is one', () => {
    // The OPTIONS of the tus protocol are in no document, as elsewhere, nor is what only leads somewhere else.
    const routes = routesOf(api).filter((route) => !/^OPTIONS |^GET \/(?:docs|\.well-known\/openapi)/.test(route));
    const operations = document.operations.map(({ name }) => asRoute(name));

    lacks([
      ...routes
        .filter((one) => !operations.includes(one))
        .map((one) => `${one} is in no document: run npm run openapi`),
      ...operations.filter((one) => !routes.includes(one)).map((one) => `${one} is documented, and is no route`),
    ]);
  });

  it('has a summary, a description, and a group that is described', () => {
    const groups = document.json.tags.filter((tag: Node) => tag.description).map((tag: Node) => tag.name);

    lacks(
      document.operations.flatMap(({ name, spec }) => [
        ...(spec.summary ? [] : [`${name} has no summary: write a doc comment above its handler`]),
        ...(spec.summary?.length > MAX_SUMMARY ? [`${name}: the first sentence of the doc comment is too long`] : []),
        ...(spec.description ? [] : [`${name} has no description: write a doc comment above its handler`]),
        ...(groups.includes(spec.tags[0])
          ? []
          : [`${name}: its controller lacks @ApiResource('Name', 'Description.')`]),
      ]),
    );
  });

  it('is named once, in one style', () => {
    const ids = document.operations.map(({ spec }) => spec.operationId as string);

    expect(new Set(ids).size).toBe(ids.length);
    lacks(
      ids
        .filter((id) => !ID.test(id))
        .map(
          (id) =>
            `The operation ${id}: call its handler list, get, create, replace, update or remove, or give it @ApiOperation({ operationId })`,
        ),
    );
  });

  it('is called unlike any schema, as generators write both into files of these names', () => {
    const ids = document.operations.map(({ spec }) => (spec.operationId as string).toLowerCase());
    const schemas = Object.keys(document.json.components.schemas as object);

    lacks(
      schemas
        .filter((name) => [...ids, 'index'].includes(name.toLowerCase()))
        .map((name) => `The schema ${name} is called like an operation, or like the file of all: rename its class`),
    );
  });

  it('names components without digests and numbers, so that they stay the same', () => {
    const names = Object.values(document.json.components as Record<string, object>).flatMap((named) =>
      Object.keys(named),
    );

    lacks(names.filter((name) => /\d/.test(name)).map((name) => `The component ${name} has a number in its name`));
  });

  it('has parameters with a description and an example, those that are required first', () => {
    const poor = places(document.parameters().filter(isPoor));

    lacks(poor.map((where) => `${where} has no description or no example: write a doc comment above it`));
    for (const { name, spec } of document.operations) {
      const required = (spec.parameters as Node[]).map((parameter) => Boolean(parameter.required));
      expect([name, required]).toEqual([name, [...required].sort((one, other) => Number(other) - Number(one))]);
    }
  });

  it('has attributes with a description, and an example unless they are made of others', () => {
    const isMade = ({ $ref, properties }: Node) => $ref || properties;
    const isComposed = ({ items, anyOf = [], ...node }: Node) => [node, items ?? {}, ...anyOf].some(isMade);
    const poor = places(document.attributes().filter((one) => !isComposed(one.node) && isPoor(one)));

    lacks(poor.map((where) => `${where} has no description or no example: write a doc comment above it in the DTO`));
  });

  it('has responses and headers with a description', () => {
    const poor = document.responses().filter(({ node: { description, headers } }) => {
      const mute = Object.values<Node>(headers).filter((header) => !header.$ref && !header.description);
      // What decorators say twice stands there twice.
      return !description || /^(.+)\n\n\1$/s.test(description) || mute.length > 0;
    });

    lacks(places(poor).map((where) => `${where} or one of its headers has no description, or has it twice`));
  });

  it('has no example that breaks its own schema', () => {
    const single = [...document.attributes(), ...document.parameters()].flatMap(({ where, node }) =>
      examplesIn(node).map((example) => ({ where, problems: document.violations(node.schema ?? node, example) })),
    );
    const bodies = [...document.bodies(), ...document.responses()].flatMap(({ where, node }) =>
      examplesOf(node).map(({ example, schema }) => ({ where, problems: document.violations(schema, example) })),
    );

    if (ALL_ARE_ASKED) expect(Math.min(single.length, bodies.length)).toBeGreaterThan(20);
    lacks(
      [...single, ...bodies].flatMap(({ where, problems }) =>
        problems.map((problem) => `The example of ${where} breaks its schema: ${problem.trim()}; mend its @example`),
      ),
    );
  });
});

/** The document with the operations that are asked, and the components that they need. */
function ofAsked(document: OpenApi): OpenApi {
  const paths = Object.entries(document.paths!).map(([path, item]) => {
    const operations = Object.entries(item).filter(([method]) => isAsked(asRoute(`${method.toUpperCase()} ${path}`)));
    return [path, Object.fromEntries(operations)] as const;
  });
  const parts = partsOf({ ...document, paths: Object.fromEntries(paths) });
  // Without what only the other operations need.
  parts.set(SHARED, partsOf(document).get(SHARED)!);
  return joined(parts);
}
