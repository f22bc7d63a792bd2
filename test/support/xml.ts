import { XML_MEDIA_TYPE } from '../../src/platform/http/xml';
import { valueOfRoot } from '../../src/platform/pipeline/xml-body';
import { XmlReader } from '../../src/platform/pipeline/xml-reader';
import type { Node } from './openapi';

/** Headers of a client of XML alone. */
export const XML = { Accept: 'application/xml', 'Content-Type': 'application/xml' };
export const XML_TYPE = XML_MEDIA_TYPE;

/** The value of an XML answer, which says all of its types. */
export function fromXml(text: string): Node {
  const reader = new XmlReader(Infinity);
  reader.write(text);
  return valueOfRoot(reader.close());
}

/** The same XML by a client that leaves the types out. Only tags hold angle brackets. */
export const withoutTypes = (xml: string): string =>
  xml.replace(/<([^<>]*) type="(?:number|boolean|array|object)"([^<>]*)>/g, '<$1$2>');

/** What a value is made of: the names and types, without what differs from row to row. */
export function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(shapeOf);
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, shapeOf(one)]));
}
