import { joined, type OpenApi } from '../openapi/parts';
import { readParts, type Version } from '../openapi/documents';

interface Parameter {
  name: string;
  in: string;
}
interface Response {
  description?: string;
  content?: Record<string, unknown>;
}
interface Operation {
  parameters?: (Parameter | Reference)[];
  responses: Record<string, Response | Reference>;
  [other: string]: unknown;
}
interface Reference {
  $ref: string;
}
interface Schema {
  required?: string[];
}
type Paths = Record<string, Record<string, Operation>>;

/** A document as the client needs it: paths below the version, successes, and the schemas of both. */
export interface CalledPaths {
  openapi: unknown;
  info: unknown;
  paths: Paths;
  components: object;
}

const JSON_TYPE = 'application/json';
const SCHEMA = /"#\/components\/schemas\/([\w.-]+)"/g;

/**
 * Reduces a version's document to what a caller writes down: errors are one class in the client, and the answer's headers
 * are read by it. So the types have a fifth of the lines, and an edited error changes none of them.
 */
export function calledPathsOf(version: Version, documents?: string): CalledPaths {
  const document = joined(readParts(version, documents));
  const base = `/api/v${version}`;
  const below = Object.entries(document.paths as unknown as Paths).filter(([path]) => path.startsWith(`${base}/`));
  const paths = Object.fromEntries(below.map(([path, item]) => [path.slice(base.length), called(item, document)]));
  const { openapi, info, components } = document;
  const schemas = wholeViews(schemasOf(paths, document), components!.schemas);
  return { openapi, info, paths, components: { ...without(components), schemas } };
}

/** The codes that an error of any operation has. */
export function errorCodesOf(document: OpenApi): string[] {
  const codes = new Set<string>();
  visit(document, (name, value) => {
    const { enum: several, const: one } = value as { enum?: unknown[]; const?: unknown };
    if (name === 'code') for (const code of [...(several ?? []), one]) if (typeof code === 'string') codes.add(code);
  });
  return [...codes].filter((code) => /^[A-Z][A-Z_]+$/.test(code)).sort();
}

function called(item: Record<string, Operation>, document: OpenApi): Record<string, Operation> {
  const operations = Object.entries(item).map(([method, operation]): [string, Operation] => {
    const { parameters = [], responses, ...rest } = operation;
    const successes = Object.entries(responses).filter(([status]) => /^2/.test(status));
    const answers = successes.map(([status, response]) => [status, inOneType(resolved(response, document))] as const);
    const given = parameters.map((one) => resolved<Parameter>(one, document));
    return [method, { ...rest, parameters: given, responses: Object.fromEntries(answers) }];
  });
  return Object.fromEntries(operations);
}

/** Without headers, and without the representations that are the same in another media type. */
function inOneType({ content, ...response }: Response): Response {
  const { description } = response;
  if (!content) return { description };
  return { description, content: JSON_TYPE in content ? { [JSON_TYPE]: content[JSON_TYPE] } : content };
}

function resolved<T extends object>(one: T | Reference, document: OpenApi): T {
  if (!('$ref' in one)) return one;
  const [kind, name] = one.$ref.split('/').slice(-2);
  return document.components![kind][name] as T;
}

const without = (components: OpenApi['components']): OpenApi['components'] =>
  components?.parameters ? { parameters: components.parameters } : {};

/** The schemas that these paths refer to, and those that those refer to. */
function schemasOf(paths: Paths, { components }: OpenApi): Record<string, object> {
  const found = new Map<string, object>();
  const search = (node: unknown): void => {
    for (const [, name] of JSON.stringify(node).matchAll(SCHEMA)) {
      if (found.has(name)) continue;
      found.set(name, components!.schemas[name]);
      search(components!.schemas[name]);
    }
  };
  search(paths);
  return Object.fromEntries([...found].sort(([one], [other]) => (one < other ? -1 : 1)));
}

/**
 * A `ProductView` may lack what `fields` leaves out. The client's calls know whether they use `fields`, and a view without
 * it has all attributes that a `Product` has.
 */
function wholeViews(schemas: Record<string, object>, all: Record<string, Schema>): Record<string, object> {
  const whole = ([name, schema]: [string, Schema]): [string, object] => {
    const { required } = (/View$/.test(name) && all[name.replace(/View$/, '')]) || schema;
    return [name, required ? { ...schema, required } : schema];
  };
  return Object.fromEntries(Object.entries(schemas).map(whole));
}

function visit(node: unknown, see: (name: string, value: object) => void): void {
  if (typeof node !== 'object' || node === null) return;
  for (const [name, value] of Object.entries(node)) {
    if (typeof value === 'object' && value !== null) see(name, value as object);
    visit(value, see);
  }
}

export type { Paths };
