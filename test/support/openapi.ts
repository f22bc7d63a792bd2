import Ajv2020, { type FuncKeywordDefinition, type ValidateFunction } from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import type { Answer } from '../../src/platform/testing';

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

/** What JSON Schema has no words for: the decimals of a number, and the bytes of an object. */
const OWN_KEYWORDS: FuncKeywordDefinition[] = [
  {
    keyword: 'x-decimals',
    type: 'number',
    validate: (decimals: number, value: number) => Number(value.toFixed(decimals)) === value,
  },
  {
    keyword: 'x-max-bytes',
    type: 'object',
    validate: (bytes: number, value: object) => Buffer.byteLength(JSON.stringify(value)) <= bytes,
  },
];

/** An OpenAPI document, read like a client that relies on every word. */
export class Document {
  private readonly validators = new WeakMap<object, ValidateFunction>();
  /** Keyed by the schemas' text: most headers and errors are the same in all operations, and compiling takes long. */
  private readonly compiled = new Map<string, ValidateFunction>();
  private known: Operation[] | undefined;
  private readonly asked = new Map<string, Node>();
  private readonly ajv: Ajv2020;

  /** @param checked true if another test checks the schemas: compiling the schema of schemas takes long. Default: false */
  constructor(
    readonly json: Node,
    { checked = false } = {},
  ) {
    // Strict: unknown keywords are errors. Optimized validators take longer to make than they save.
    const options = { allErrors: true, allowUnionTypes: true, code: { optimize: false } };
    this.ajv = addFormats(new Ajv2020({ ...options, meta: !checked, validateSchema: !checked }));
    // Names in XML, which JSON has not.
    this.ajv.addKeyword('xml');
    for (const keyword of OWN_KEYWORDS) this.ajv.addKeyword(keyword);
    for (const [name, schema] of Object.entries<object>(json.components.schemas)) {
      this.ajv.addSchema({ ...local(schema), $id: name });
    }
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

  private validatorOf(schema: Node): ValidateFunction {
    const validator = this.validators.get(schema) ?? this.compile(local(schema));
    this.validators.set(schema, validator);
    return validator;
  }

  private compile(schema: object): ValidateFunction {
    const text = JSON.stringify(schema);
    const validator = this.compiled.get(text) ?? this.ajv.compile(schema);
    this.compiled.set(text, validator);
    return validator;
  }
}

/** The same document with all objects closed: they allow only the named attributes. */
export function closed(node: Node): Node {
  if (Array.isArray(node)) return node.map(closed);
  if (typeof node !== 'object' || node === null) return node;
  const inside = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, closed(value)]));
  const open = [node.type].flat().includes('object') && typeof node.properties === 'object';
  return open ? { additionalProperties: false, ...inside } : inside;
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

/** The same schema with references that ajv can resolve. */
function local(schema: object): object {
  return JSON.parse(JSON.stringify(schema).replaceAll('#/components/schemas/', '')) as object;
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`, 'i');
}

function nameOf(reference: string): string {
  return reference.split('/').at(-1)!;
}
