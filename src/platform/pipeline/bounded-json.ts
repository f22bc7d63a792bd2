import { bodyError } from '../errors/to-api-error';

/** Deeper than any body of this API. Libraries recurse, and a body of brackets would exhaust the stack. */
export const MAX_DEPTH = 32;
/**
 * More values than any body of the service's own resources: an order of 100 lines has 301. Each value costs time to
 * validate.
 */
export const MAX_VALUES = 500;

const Byte = {
  QUOTE: 0x22,
  COMMA: 0x2c,
  BACKSLASH: 0x5c,
  OPEN_LIST: 0x5b,
  CLOSE_LIST: 0x5d,
  OPEN_OBJECT: 0x7b,
  CLOSE_OBJECT: 0x7d,
} as const;

/**
 * Refuses JSON that nests too deep, or has too many values, before it is parsed: a mebibyte of short names would become
 * a hundred thousand properties. The parser finds out whether it is valid JSON.
 */
export function requireBoundedJson(json: Buffer, maxValues = MAX_VALUES): void {
  let depth = -1;
  let values = 0;
  for (let at = 0; at < json.length; at++) {
    switch (json[at]) {
      case Byte.QUOTE:
        at = endOfString(json, at);
        break;
      case Byte.OPEN_LIST:
      case Byte.OPEN_OBJECT:
        // The first value of a list or an object starts here. An empty one counts as one value too.
        if (++depth > MAX_DEPTH) throw tooDeep();
        values++;
        break;
      case Byte.CLOSE_LIST:
      case Byte.CLOSE_OBJECT:
        depth--;
        break;
      case Byte.COMMA:
        values++;
    }
    if (values > maxValues) throw tooMany(maxValues);
  }
}

/** The same for a body that another parser has parsed. */
export function requireBoundedValue(body: unknown, maxValues = MAX_VALUES): void {
  let values = 0;
  const count = (value: unknown, depth: number): void => {
    if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return;
    if (depth > MAX_DEPTH) throw tooDeep();
    const children = Object.values(value);
    values += Math.max(children.length, 1);
    if (values > maxValues) throw tooMany(maxValues);
    for (const child of children) count(child, depth + 1);
  };
  count(body, 0);
}

const tooDeep = () => bodyError('depth', `must not nest deeper than ${MAX_DEPTH} levels`);
const tooMany = (maxValues: number) => bodyError('size', `must not hold more than ${maxValues} values`);

/** The index of the quotation mark that ends the string that begins at `start`; the length if there is none. */
function endOfString(json: Buffer, start: number): number {
  for (let at = start + 1; at < json.length; at++) {
    if (json[at] === Byte.QUOTE) return at;
    if (json[at] === Byte.BACKSLASH) at++;
  }
  return json.length;
}
