import fc from 'fast-check';
import { Arbitraries } from './arbitraries';
import { CHUNK_TYPE } from '../../src/uploads/tus/upload-headers';
import type { Document, Node, Operation } from './openapi';

export const CALLERS = ['anonymous', 'user', 'admin'] as const;

/** A request in the form that the report of a failure prints. */
export interface FuzzRequest {
  caller: (typeof CALLERS)[number];
  /** E.g. `GET /api/v1/users/{id}`. */
  operation: string;
  path: Record<string, string>;
  query: Record<string, string>;
  header: Record<string, string>;
  /** Text and bytes are sent unchanged. Bytes are a chunk of an upload. */
  body?: unknown;
  /** How a valid request was broken. */
  broken?: string;
}

type Place = 'path' | 'query' | 'header';
type Break = (request: FuzzRequest) => FuzzRequest;

const UNKNOWN = 'colour';
const BODIES = ['', '[]', 'null', '1', '"text"', '{', '{"a":1', '\u0000'];
/** The greatest size of a chunk in bytes. */
const MAX_CHUNK = 64;
const CHUNKS = fc.uint8Array({ maxLength: MAX_CHUNK });
/** Headers about a new upload: invalid values are refused, unlike conditions, which just don't match. */
const OF_UPLOADS = /^(tus|upload)-/i;
const JUNK = [null, true, -1, 1.5, 1e300, '', 'x', 'GONE', 'a\u0000b', '\ud800', [], [null], {}, { a: 1 }, [[]]];

/** Generates requests from a document: valid ones, and ones that are invalid in one place. */
export class FuzzRequests {
  private readonly arbitraries: Arbitraries;

  constructor(private readonly document: Document) {
    this.arbitraries = new Arbitraries(document.json.components.schemas);
  }

  valid(): fc.Arbitrary<FuzzRequest> {
    return fc.oneof(...this.document.operations.map((one) => this.ofOperation(one)));
  }

  invalid(): fc.Arbitrary<FuzzRequest> {
    const broken = (one: Operation) =>
      fc.tuple(this.ofOperation(one), this.breaks(one)).map(([request, change]) => change(request));
    return fc.oneof(...this.document.operations.map(broken));
  }

  private ofOperation({ name, spec }: Operation): fc.Arbitrary<FuzzRequest> {
    const schema = schemaOfBody(spec);
    const body = schema ? this.arbitraries.of(schema) : takesBytes(spec) ? CHUNKS : undefined;
    return fc.record({
      caller: fc.constantFrom(...CALLERS),
      operation: fc.constant(name),
      path: this.parameters(spec, 'path'),
      query: this.parameters(spec, 'query'),
      header: this.parameters(spec, 'header'),
      ...(body && { body }),
    });
  }

  private parameters(spec: Node, place: Place): fc.Arbitrary<Record<string, string>> {
    const parameters = inPlace(spec, place);
    const values = parameters.map((parameter) => [parameter.name, this.arbitraries.ofParameter(parameter)]);
    const requiredKeys = parameters.filter(({ required }) => required).map(({ name }) => name as string);
    const arbitraries = Object.fromEntries(values) as Record<string, fc.Arbitrary<string>>;
    return fc.record(arbitraries, { requiredKeys, noNullPrototype: true });
  }

  private breaks({ spec }: Operation): fc.Arbitrary<Break> {
    const schema = schemaOfBody(spec);
    const ways = [
      fc.constant<Break>((request) => ({
        ...request,
        query: { ...request.query, [UNKNOWN]: 'red' },
        broken: 'unknown parameter',
      })),
      ...(['path', 'query'] as const).flatMap((place) =>
        inPlace(spec, place).flatMap((parameter) => this.brokenParameter(parameter, place)),
      ),
      ...ofUploads(spec).flatMap((parameter) => this.brokenHeader(parameter)),
      ...(schema ? [this.brokenBody(schema), this.brokenBody(schema), this.brokenBody(schema)] : []),
      ...(takesBytes(spec) ? [fc.constant<Break>((request) => ({ ...request, body: { a: 1 }, broken: 'body' }))] : []),
    ];
    return fc.oneof(...ways);
  }

  /** Empty if every text is valid. */
  private brokenParameter({ name, schema }: Node, place: Place): fc.Arbitrary<Break>[] {
    const refused = this.refusedTexts(schema);
    if (refused.length === 0) return [];
    const broken = fc.constantFrom(...refused).map((value): Break => (request) => ({
      ...request,
      [place]: { ...request[place], [name]: value },
      broken: `${place} ${name}`,
    }));
    return [broken];
  }

  private brokenHeader(parameter: Node): fc.Arbitrary<Break>[] {
    const { name, required, schema } = parameter;
    // Blanks around a value are trimmed, and only ASCII can be sent.
    const sendable = this.refusedTexts(schema).filter((text) => /^[\x21-\x7e]+$/.test(text));
    const wrong = fc.constantFrom(...sendable).map((value): Break => (request) => ({
      ...request,
      header: { ...request.header, [name]: value },
      broken: `header ${name}`,
    }));
    const missing: Break = ({ header: { [name as string]: _, ...header }, ...request }) => ({
      ...request,
      header,
      broken: `no header ${name}`,
    });
    return required ? [wrong, fc.constant(missing)] : [wrong];
  }

  /** Invalid texts of a parameter. An empty path segment would change the path. */
  private refusedTexts(schema: Node): string[] {
    const texts = ['x', 'GONE', '-1', '1.5', '01', '1e3', '0x1', ' 1', 'a\u0000b', '99999999999999999999', '\u0661'];
    const edges = [schema.minimum - 1, schema.maximum + 1].filter(Number.isSafeInteger).map(String);
    const long = schema.maxLength ? ['x'.repeat(schema.maxLength + 1)] : [];
    const values = [...texts, ...edges, ...long];
    return values.filter((text) => this.document.violations(schema, this.read(schema, text)).length > 0);
  }

  private read({ type, items }: Node, text: string): unknown {
    if (type === 'array') return text.split(',').map((one) => this.read(items, one));
    if (type === 'boolean') return text === 'true' || (text === 'false' ? false : text);
    const isNumber = type === 'number' ? /^-?(0|[1-9]\d*)(\.\d+)?$/ : /^-?(0|[1-9]\d*)$/;
    return (type === 'integer' || type === 'number') && isNumber.test(text) ? Number(text) : text;
  }

  private brokenBody(schema: Node): fc.Arbitrary<Break> {
    const raw = fc.constantFrom(...BODIES).map((body): Break => (request) => ({ ...request, body, broken: 'body' }));
    const value = this.brokenObject(schema, 'body').map(({ change, where }): Break => (request) => ({
      ...request,
      body: change(request.body),
      broken: where,
    }));
    // An empty body is valid if nothing is required.
    const { required = [] } = this.arbitraries.resolve(schema);
    return fc.oneof(
      { weight: 5, arbitrary: value },
      { weight: 1, arbitrary: required.length > 0 ? raw : raw.filter(isNotEmpty) },
    );
  }

  private brokenObject(schema: Node, where: string): fc.Arbitrary<Change> {
    const { properties = {}, required = [] } = this.arbitraries.resolve(schema);
    const set = (name: string, value: unknown): Change => ({
      where: `${where}.${name}`,
      change: (object) => ({ ...(object as object), [name]: value }),
    });
    const attributes = Object.entries<Node>(properties).flatMap(([name, attribute]) => {
      const refused = this.refused(attribute);
      return [
        ...(refused.length > 0 ? [fc.constantFrom(...refused).map((value) => set(name, value))] : []),
        ...(attribute.items?.$ref ? [this.brokenItem(attribute, name, `${where}.${name}`)] : []),
      ];
    });
    const missing = (required as string[]).map((name) => fc.constant(set(name, undefined)));
    return fc.oneof(...attributes, ...missing, fc.constant(set(UNKNOWN, 'red')));
  }

  private brokenItem({ items, minItems }: Node, name: string, where: string): fc.Arbitrary<Change> {
    const item = this.arbitraries.of(items);
    return fc.tuple(item, this.brokenObject(items, `${where}.0`)).map(([first, inner]) => ({
      where: inner.where,
      change: (object: unknown) => ({
        ...(object as object),
        [name]: Array.from({ length: Math.max(1, minItems) }, () => inner.change(first)),
      }),
    }));
  }

  /** Values of any type that the schema refuses. */
  private refused(schema: Node): unknown[] {
    const { minimum, maximum, minLength, maxLength, maxItems } = schema;
    const values = [
      ...JUNK,
      ...[minimum - 1, maximum + 1].filter((edge) => !Number.isNaN(edge)),
      ...(minLength ? ['x'.repeat(minLength - 1), ' '.repeat(minLength)] : []),
      ...(maxLength ? ['x'.repeat(maxLength + 1), '😀'.repeat(maxLength + 1)] : []),
      ...(maxItems ? [Array.from({ length: maxItems + 1 }, () => 'USER')] : []),
    ];
    return values.filter((value) => this.document.violations(schema, value).length > 0);
  }
}

interface Change {
  where: string;
  change: (value: unknown) => unknown;
}

const isNotEmpty = (change: Break) => change({} as FuzzRequest).body !== '';

/** An object of the style `deepObject` is a parameter for each of its properties, such as `amount[gte]`. */
export function inPlace(spec: Node, place: Place): Node[] {
  const own = (spec.parameters as Node[]).filter((parameter) => parameter.in === place);
  return own.flatMap(({ style, schema, ...parameter }) => {
    if (style !== 'deepObject') return [{ ...parameter, schema }];
    return Object.entries<Node>(schema.properties).map(([name, part]) => {
      return { in: place, name: `${parameter.name}[${name}]`, schema: part };
    });
  });
}

const ofUploads = (spec: Node) => inPlace(spec, 'header').filter(({ name }) => OF_UPLOADS.test(name as string));

function takesBytes(spec: Node): boolean {
  return spec.requestBody?.content[CHUNK_TYPE] !== undefined;
}

function schemaOfBody(spec: Node): Node {
  return spec.requestBody?.content['application/json']?.schema;
}
