/** The media types of XML, the usual one first (RFC 7303). */
export const XML_TYPES = ['application/xml', 'text/xml'] as const;

export const XML_MEDIA_TYPE = `${XML_TYPES[0]}; charset=utf-8`;

type Json = string | number | boolean | null | Json[] | { [name: string]: Json };

const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>';
/** The root element of an answer. */
export const ROOT = 'response';
/** The element of an item of a list, and of an attribute whose name isn't a name of XML. */
export const ITEM = 'item';
/** Names that are elements as they are. XML keeps those that begin with `xml` for itself. */
const NAME = /^(?!xml)[a-z_][\w.-]*$/i;
/** Characters that are written as references, or that XML 1.0 can't hold at all (2.2). */
const UNSAFE = /[<>&\r]|[^\t\n\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;
/** The same for a test: most texts match nothing, and replace() would copy them. */
const ANY_UNSAFE = new RegExp(UNSAFE.source, 'u');
/** Reading an attribute turns its blanks into spaces (XML 1.0, 3.3.3). */
const UNSAFE_IN_ATTRIBUTE = /["\t\n]/g;
const REFERENCES: Record<string, string> = {
  '<': '&lt;',
  '>': '&gt;',
  '&': '&amp;',
  '"': '&quot;',
  '\t': '&#9;',
  '\n': '&#10;',
  '\r': '&#13;',
};
/** Stands for a character that XML can't hold. */
const REPLACEMENT = '\ufffd';

/**
 * The XML of a JSON text, by the mapping of docs/representations.md. A parser gives it back as it was: each value that
 * isn't a text says its type.
 */
export const toXml = (json: string): string => DECLARATION + element(ROOT, JSON.parse(json) as Json);

/** An item of a list as an element, without a declaration. */
export const toXmlItem = (json: string): string => element(ITEM, JSON.parse(json) as Json);

function element(name: string, value: Json): string {
  if (NAME.test(name)) return tagged(name, name, value);
  return tagged(`${ITEM} name="${escaped(name).replace(UNSAFE_IN_ATTRIBUTE, (one) => REFERENCES[one])}"`, ITEM, value);
}

function tagged(start: string, end: string, value: Json): string {
  if (typeof value === 'string') return `<${start}>${escaped(value)}</${end}>`;
  if (value === null) return `<${start} type="null"/>`;
  if (typeof value !== 'object') return `<${start} type="${typeof value}">${value}</${end}>`;
  if (Array.isArray(value)) return `<${start} type="array">${all(value)}</${end}>`;
  return `<${start} type="object">${members(value)}</${end}>`;
}

function all(values: Json[]): string {
  let text = '';
  for (const value of values) text += element(ITEM, value);
  return text;
}

function members(value: { [name: string]: Json }): string {
  let text = '';
  for (const name of Object.keys(value)) text += element(name, value[name]);
  return text;
}

function escaped(text: string): string {
  if (!ANY_UNSAFE.test(text)) return text;
  return text.replace(UNSAFE, (character) => REFERENCES[character] ?? REPLACEMENT);
}
