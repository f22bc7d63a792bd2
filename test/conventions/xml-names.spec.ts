import { SaxesParser } from 'saxes';
import { itForEach } from '../support/asked';
import { documentOf } from '../support/contract';
import { Fixtures } from '../support/fixtures';
import type { Node } from '../support/openapi';
import { documentedRoutes, requestOf, sendTo } from '../support/requests';
import { useTestApi } from '../support/test-api';
import { XML } from '../support/xml';

const JSON_TYPE = 'application/json';
const bodyOf = (response: Node): Node => response?.content?.[JSON_TYPE];
const READS = documentedRoutes(({ method, path, response }) => {
  return method === 'get' && path.startsWith('/api/') && bodyOf(response(200));
});

/** OpenAPI 3.1, "XML Object": what the document says of names, without a word from the service's own mapping. */
describe('The names in XML', () => {
  const api = useTestApi();

  itForEach(READS)('are those of the document: %s', async (route) => {
    const own = new Fixtures(api, await api.user());
    const admin = api.as(await api.admin());
    await own.order();
    const request = await requestOf(route, own);
    const json = await sendTo(admin, route, request);
    const xml = await sendTo(admin.with(XML), route, request);
    const document = documentOf('1');
    const operation = document.operations.find(({ name }) => name.replaceAll(/\{(\w+)\}/g, ':$1') === route)!;
    const { schema } = bodyOf(document.response(operation, 200));
    const told = elementsOf(schema, json.body, undefined, (one) => document.resolved(one));

    expect(told.length).toBeGreaterThan(3);
    expect([...new Set(elementsIn(xml.text))].sort()).toEqual([...new Set(told)].sort());
  });

  it('are told of the errors too', async () => {
    const { text, status } = await api.with(XML).get('/users/profile');
    const document = documentOf('1');
    const operation = document.operations.find(({ name }) => name === 'GET /api/v1/users/profile')!;
    const { schema } = bodyOf(document.response(operation, status));

    expect(status).toBe(401);
    expect(elementsIn(text)[0]).toBe(document.resolved(schema).xml.name);
  });
});

type Resolve = (schema: Node) => Node;

/** A list in an object of any names, whose form docs/representations.md says for all of them. */
const FREE_LIST: Node = { xml: { wrapped: true }, items: { xml: { name: 'item' } } };

/** The paths of the elements that the document gives a value. */
function elementsOf(schema: Node, value: unknown, property: string | undefined, resolve: Resolve): string[] {
  const whole = chosen({ ...resolve(schema), ...schema });
  const name = schema.xml?.name ?? (property === undefined ? whole.xml?.name : property);
  if (Array.isArray(value)) {
    const list = whole.items ? whole : FREE_LIST;
    const items = value.flatMap((one) => elementsOf(list.items, one, name, resolve));
    return list.xml?.wrapped ? [name, ...below(name, items)] : items;
  }
  if (typeof value !== 'object' || value === null) return [name];
  const inside = Object.entries(value).flatMap(([key, one]) =>
    elementsOf(whole.properties?.[key] ?? {}, one, key, resolve),
  );
  return [name, ...below(name, inside)];

  /** What isn't null, where a schema allows null beside it. */
  function chosen(one: Node): Node {
    const other = one.anyOf?.find(({ type }: Node) => type !== 'null');
    return other ? { ...one, ...resolve(other), ...other } : one;
  }
}

const below = (name: string, paths: string[]): string[] => paths.map((path) => `${name}/${path}`);

/** The paths of the elements of a text. */
function elementsIn(text: string): string[] {
  const found: string[] = [];
  const open: string[] = [];
  const parser = new SaxesParser();
  parser.on('opentag', ({ name }) => {
    open.push(name);
    found.push(open.join('/'));
  });
  parser.on('closetag', () => void open.pop());
  parser.write(text).close();
  return found;
}
