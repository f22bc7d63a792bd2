import type { OpenAPIObject } from '@nestjs/swagger';
import { ITEM, ROOT } from '../http/xml';
import { ROOT as API } from '../routing/version';

type Node = Record<string, unknown>;

const JSON_TYPE = 'application/json';
const BELOW = ['properties', 'items', 'additionalProperties', 'allOf', 'anyOf', 'oneOf'];

/**
 * Adds the names that XML has where they aren't those of JSON (D-264): the root element of an answer, and the elements of
 * lists. OpenAPI's own mapping has the names of attributes otherwise.
 */
export function withXmlNames(document: OpenAPIObject): OpenAPIObject {
  const { components = {}, paths } = document as unknown as { components?: Record<string, Node>; paths: Node };
  Object.values(components.schemas ?? {}).forEach(nameItems);
  const inApi = Object.entries(paths).filter(([path]) => path.startsWith(`${API}/`));
  for (const media of inApi.flatMap(([, item]) => mediaIn(item))) nameItems(media.schema);
  const roots = inApi.flatMap(([, item]) =>
    Object.values(item as Record<string, Node>).flatMap(({ responses }) => mediaIn(responses)),
  );
  for (const { schema } of [...roots, ...mediaIn(components.responses)]) {
    const { $ref } = schema as { $ref?: string };
    const named = $ref === undefined ? (schema as Node) : (components.schemas[$ref.split('/').at(-1)!] as Node);
    named.xml = { name: ROOT };
  }
  return document;
}

/** The bodies in JSON of a part of the document. */
function mediaIn(node: unknown): { schema: unknown }[] {
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([name, value]) => {
    if (name === JSON_TYPE) return [value as { schema: unknown }];
    return mediaIn(value);
  });
}

function nameItems(schema: unknown): void {
  if (typeof schema !== 'object' || schema === null) return;
  const node = schema as Node;
  if ([node.type].flat().includes('array') && node.items !== undefined) {
    Object.assign(node, { items: { ...(node.items as Node), xml: { name: ITEM } }, xml: { wrapped: true } });
  }
  for (const name of BELOW) {
    const below = node[name];
    if (name === 'items' || name === 'additionalProperties') nameItems(below);
    else Object.values(below ?? {}).forEach(nameItems);
  }
}
