import type { Answer } from '../../src/platform/testing';
import { compilerOf, type Validate } from './validators.cjs';

/* eslint-disable @typescript-eslint/no-explicit-any */

/** A node of the document. Tests expect its type. */
export type Node = any;

export interface Operation {
  /** E.g. `GET /api/v1/users/{id}`. */
  name: string;
  path: string;
  method: string;
  /** Matches the paths of its requests. */
  pattern: RegExp;
  spec: Node;
}

/** A part of the document with a schema, and its place. */
export interface Described {
  where: string;
  node: Node;
}

/** An OpenAPI document, read like a client that relies on every word. */
export class Document {
  private readonly validators = new WeakMap<object, Validate>();
  private readonly compile: (text: string) => Validate;
  private known: Operation[] | undefined;
  private readonly asked = new Map<string, Node>();

  /** @param checked true if another test checks the schemas: compiling the schema of schemas takes long. Default: false */
  constructor(
    readonly json: Node,
    { checked = false } = {},
  ) {
    this.compile = compilerOf(JSON.stringify(json.components.schemas), checked);
  }

  get operations(): Operation[] {
    return (this.known ??= this.readOperations());
  }

  private readOperations(): Operation[] {
    return Object.entries<Node>(this.json.paths).flatMap(([path, item]) =>
      Object.entries<Node>(item).map(([method, spec]) => ({
        name: `${method.toUpperCase()} ${path}`,
        path,
        method,
        pattern: patternOf(path),
        spec,
      })),
    );
  }

  /** The response of a status, with its reference resolved. A description beside a reference takes precedence. */
  response({ spec }: Operation, status: number | string): Node {
    const response = spec.responses[status];
    if (!response?.$ref) return response;
    const { $ref, ...own } = response;
    return { ...this.json.components.responses[nameOf($ref)], ...own };
  }

  /** A schema with its reference resolved. */
  resolved(schema: Node): Node {
    return schema?.$ref ? this.json.components.schemas[nameOf(schema.$ref)] : schema;
  }

  /** The headers of a response, by lower-case names. */
  headersOf({ headers = {} }: Node): Map<string, Node> {
    const named = Object.entries<Node>(headers).map(([name, header]): [string, Node] => [
      name.toLowerCase(),
      header.$ref ? this.json.components.headers[nameOf(header.$ref)] : header,
    ]);
    return new Map(named);
  }

  /**
   * The schema of an answer that is exactly what was asked for.
   * @param fields the chosen attributes; empty for all
   * @param included the names of the included rows
   */
  asAsked(schema: Node, fields: string[], included: string[]): Node {
    const key = JSON.stringify([schema, fields, included]);
    const known = this.asked.get(key) ?? this.narrowed(schema, fields, included);
    this.asked.set(key, known);
    return known;
  }

  private narrowed(schema: Node, fields: string[], included: string[]): Node {
    const envelope = this.resolved(schema);
    const { data } = envelope.properties ?? {};
    const view = data?.items ?? data;
    // Only reads can be reduced.
    if (!view?.$ref || !nameOf(view.$ref as string).endsWith('View')) return schema;
    const item = this.shown(view, fields, included);
    const narrow = data.items ? { ...data, items: item } : item;
    return { ...envelope, properties: { ...envelope.properties, data: narrow } };
  }

  private shown({ $ref }: Node, fields: string[], included: string[]): Node {
    const view = this.resolved({ $ref });
    const whole = this.json.components.schemas[nameOf($ref as string).replace(/View$/, '')] ?? view;
    const own = fields.length > 0 ? fields : Object.keys(whole.properties as object);
    const properties = [...own, ...included].map((name) => [name, view.properties[name]]);
    const required = [...(fields.length > 0 ? fields : (whole.required ?? [])), ...included];
    return { type: 'object', required, properties: Object.fromEntries(properties), additionalProperties: false };
  }

  /** The required attributes of an operation's body. */
  requiredOf({ spec }: Operation): string[] {
    const { $ref } = schemaOf(spec.requestBody);
    return this.json.components.schemas[nameOf($ref)].required ?? [];
  }

  /** All responses, with their operations and statuses. */
  responses(): Described[] {
    return this.operations.flatMap((one) =>
      Object.keys(one.spec.responses).map((status) => ({
        where: `${one.name} ${status}`,
        node: this.response(one, status),
      })),
    );
  }

  /** All bodies of requests. */
  bodies(): Described[] {
    const operations = this.operations.filter(({ spec }) => spec.requestBody);
    return operations.map(({ name, spec }) => ({ where: name, node: spec.requestBody }));
  }

  /** All attributes, at any depth, of everything that goes in or out. */
  attributes(): Described[] {
    const components = Object.entries<Node>(this.json.components.schemas);
    const inline = this.responses().map(({ where, node }): [string, Node] => [where, schemaOf(node)]);
    return [...components, ...inline].flatMap(([name, schema]) => propertiesOf(schema, name));
  }

  parameters(): Described[] {
    return this.operations.flatMap(({ name, spec }) =>
      (spec.parameters as Node[]).map((node) => ({ where: `${name} ${node.name}`, node })),
    );
  }

  /** The differences between an answer and the documented success of its operation. */
  problemsOf(one: Operation, { status, headers, body, text }: Answer): string[] {
    const expected = Object.keys(one.spec.responses).find((code) => code.startsWith('2'))!;
    const response = this.response(one, expected);
    const schema = schemaOf(response);
    return [
      ...(String(status) === expected ? [] : [`${status} instead of ${expected}: ${text}`]),
      ...(schema ? this.violations(schema, body) : text === '' ? [] : ['has a body']),
      ...requiredHeaders(response).filter((name) => !headers.has(name)),
    ];
  }

  /** The rules of a schema that a value violates; empty if it is valid. */
  violations(schema: Node, value: unknown): string[] {
    const validate = this.validatorOf(schema);
    if (validate(value)) return [];
    return (validate.errors ?? []).map(({ instancePath, message, params }) => {
      const { additionalProperty: unknown } = params as { additionalProperty?: string };
      return `${instancePath} ${unknown === undefined ? message : `has \`${unknown}\`, which its schema lacks`}`;
    });
  }

  private validatorOf(schema: Node): Validate {
    const validator = this.validators.get(schema) ?? this.compile(JSON.stringify(schema));
    this.validators.set(schema, validator);
    return validator;
  }
}

/** Closes all objects of a document: they allow only the named attributes. Returns the document. */
export function closed(node: Node): Node {
  if (typeof node !== 'object' || node === null) return node;
  for (const key in node) closed(node[key]);
  const { type, properties } = node;
  const isObject = type === 'object' || (Array.isArray(type) && type.includes('object'));
  if (isObject && typeof properties === 'object') node.additionalProperties ??= false;
  return node;
}

/** The examples of a request's or a response's body, named or not. */
export function examplesOf(response: Node): { example: Node; schema: Node }[] {
  const contents = Object.values<Node>(response?.content ?? {});
  return contents.flatMap(({ schema, example, examples = {} }) => [
    ...(example === undefined ? [] : [{ example, schema }]),
    ...Object.values<Node>(examples).map(({ value }) => ({ example: value, schema })),
  ]);
}

/** The details of errors that the description of a response tells. */
export function toldBy(response: Node): string[] {
  return response?.description.split('; or: ') ?? [];
}

/** The headers that a response always has. */
export function requiredHeaders({ headers = {} }: Node): string[] {
  return Object.entries<Node>(headers)
    .filter(([, header]) => header.required || /\/(X-Request-Id|Tus-Resumable)$/.test(header.$ref ?? ''))
    .map(([name]) => name);
}

export function schemaOf(response: Node): Node {
  return Object.values<Node>(response?.content ?? {})[0]?.schema;
}

function propertiesOf(schema: Node, where: string): Described[] {
  if (schema?.items) return propertiesOf(schema.items, `${where}[]`);
  return Object.entries<Node>(schema?.properties ?? {}).flatMap(([name, node]) => [
    { where: `${where}.${name}`, node },
    ...propertiesOf(node, `${where}.${name}`),
  ]);
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`, 'i');
}

function nameOf(reference: string): string {
  return reference.split('/').at(-1)!;
}
