import { validationError } from '../errors/api-error';
import type { Declared } from '../input/declared-types';
import { LoopTurns } from '../limits/loop-turns';
import { MAX_VALUES } from './bounded-json';
import { ANY_TEXT, type XmlElement, XmlReader, type XmlValueType } from './xml-reader';

const ITEM = 'item';
/** Characters that are read in one go: the worst take some ten milliseconds. */
const PIECE = 65_536;
/** JSON's own forms of these, blanks around them included. */
const JSON_FORMS = {
  number: /^[ \t\r\n]*-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?[ \t\r\n]*$/i,
  boolean: /^[ \t\r\n]*(?:true|false)[ \t\r\n]*$/,
};

/**
 * The value of an XML body, read in several turns of the event loop, by the mapping of docs/representations.md: like that of the same body in JSON.
 * @param declared what the route takes, for elements that don't say their type
 * @throws {ApiError} VALIDATION_ERROR
 */
export async function parseXml(text: string, declared?: Declared, maxValues = MAX_VALUES): Promise<unknown> {
  const reader = new XmlReader(maxValues);
  const turns = new LoopTurns();
  for (let at = 0; at < text.length;) {
    if (turns.isOver) await turns.next();
    // The two characters of one end of a line stay together.
    const length = text.startsWith('\r\n', at + PIECE - 1) ? PIECE + 1 : PIECE;
    reader.write(withPlainLineEnds(text.slice(at, at + length)));
    at += length;
  }
  return valueOfRoot(reader.close(), declared);
}

/** Ends of lines (XML 1.0, 2.11). The parser would make them one by one, and keep a piece of memory for each. */
const withPlainLineEnds = (piece: string) => (piece.includes('\r') ? piece.replace(/\r\n?/g, '\n') : piece);

export const valueOfRoot = (root: XmlElement, declared = ANY_OBJECT): unknown => valueOf(root, [], declared);

/** An empty body is an object without attributes, where a route doesn't say what it takes. */
const ANY_OBJECT: Declared = { type: 'object' };

type Path = (string | number)[];

function valueOf(element: XmlElement, path: Path, declared?: Declared): unknown {
  const { type = typeMeant(element, declared), text, children } = element;
  const isFlat = type !== 'array' && type !== 'object';
  if (isFlat ? children.length > 0 : ANY_TEXT.test(text)) throw wrong(path, type);
  switch (type) {
    case 'array':
      return listOf(children, path, declared?.items);
    case 'object':
      return objectOf(children, path, declared?.of);
    default:
      return flatValue(text, type, path);
  }
}

/** The type of an element that doesn't say it. What can't be of the declared type stays a text, which the rules refuse. */
function typeMeant({ text, children }: XmlElement, declared?: Declared): XmlValueType {
  if (children.length > 0) return declared?.type === 'array' ? 'array' : 'object';
  switch (declared?.type) {
    case 'number':
    case 'boolean':
      return JSON_FORMS[declared.type].test(text) ? declared.type : 'string';
    case 'array':
    case 'object':
      return ANY_TEXT.test(text) ? 'string' : declared.type;
    default:
      return 'string';
  }
}

function flatValue(text: string, type: 'string' | 'number' | 'boolean' | 'null', path: Path): unknown {
  if (type === 'string') return text;
  if (type === 'null' ? ANY_TEXT.test(text) : !JSON_FORMS[type].test(text)) throw wrong(path, type);
  return type === 'null' ? null : (JSON.parse(text) as unknown);
}

function listOf(children: XmlElement[], path: Path, items?: Declared): unknown[] {
  return children.map((child, index) => {
    if (child.name !== ITEM) throw violation([...path, index], 'item', `must be an element of the name ${ITEM}`);
    return valueOf(child, [...path, index], items);
  });
}

/** Like JSON.parse(), which takes any name for an own attribute. */
function objectOf(children: XmlElement[], path: Path, of?: (name: string) => Declared | undefined): object {
  const values = new Map<string, unknown>();
  for (const child of children) {
    const { name } = child;
    if (values.has(name)) throw violation([...path, name], 'once', 'must be given at most once');
    values.set(name, valueOf(child, [...path, name], of?.(name)));
  }
  return Object.fromEntries(values);
}

const NOUNS: Record<XmlValueType, string> = {
  string: 'a text without elements',
  number: 'a number as JSON writes it',
  boolean: 'true or false',
  null: 'empty',
  array: 'a list of items without text',
  object: 'elements without text',
};

const wrong = (path: Path, type: XmlValueType) => violation(path, 'type', `must be ${NOUNS[type]}, as its type says`);

const violation = (path: Path, rule: string, message: string) =>
  validationError([{ field: path.length > 0 ? path.join('.') : 'body', rule, message }]);
