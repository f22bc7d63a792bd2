/** The parts of JSON Schema that are compared. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  nullable?: boolean;
  enum?: unknown[];
  const?: unknown;
  format?: string;
  pattern?: string;
  default?: unknown;
  deprecated?: boolean;
  readOnly?: boolean;
  writeOnly?: boolean;
  required?: string[];
  properties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  items?: Schema;
  allOf?: Schema[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  [bound: string]: unknown;
}

export interface MediaTypes {
  [mediaType: string]: { schema?: Schema };
}

export interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  deprecated?: boolean;
  style?: string;
  explode?: boolean;
  schema?: Schema;
}

export interface Header {
  required?: boolean;
  schema?: Schema;
}

export interface Answer {
  content?: MediaTypes;
  headers?: Record<string, Header>;
}

export interface Operation {
  operationId?: string;
  description?: string;
  deprecated?: boolean;
  'x-list-of-inputs'?: object;
  security?: Record<string, string[]>[];
  parameters?: Parameter[];
  requestBody?: { required?: boolean; content?: MediaTypes };
  responses?: Record<string, Answer>;
}

/** A whole OpenAPI document, as far as it is compared. */
export interface Document {
  info: { version: string };
  security?: Record<string, string[]>[];
  paths?: Record<string, Record<string, unknown>>;
  components?: Record<string, Record<string, unknown>>;
}

/** The object itself, or the component that it refers to. @throws {Error} for a reference to nothing */
export function resolved<T extends object>(node: T, document: Document): T {
  const { $ref } = node as { $ref?: string };
  if ($ref === undefined) return node;
  const keys = $ref.replace(/^#\//, '').split('/');
  const found = keys
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], document);
  if (found === undefined) throw new Error(`${$ref} is nothing in the document`);
  return resolved(found as T, document);
}
