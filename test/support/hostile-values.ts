/** The most expensive inputs, for tests that send them everywhere. Lengths are in sent bytes. */

/** Pieces of text that are expensive to normalise, match, split, fold, escape or count. */
export const HOSTILE_PIECES: Record<string, string> = {
  'marks out of order': '\u0316\u0301',
  'marks in order': '\u0301',
  'letters with 30 marks each': `a${'\u0316\u0301'.repeat(15)}`,
  'letters in four parts': 'ᾂ'.normalize('NFD'),
  'syllables in three parts': '\u1112\u1161\u11ab',
  'letters that grow when they are folded': 'ΐ',
  'ligatures of eighteen letters': '\ufdfa',
  'invisible characters': '\u200b',
  'halves of surrogate pairs': '\ud800',
  'surrogate pairs': '😀',
  'characters that are escaped': '<',
  'quotation marks': '"',
  backslashes: '\\',
  'control characters': '\0',
  newlines: '\r\n',
  blanks: ' ',
  digits: '1',
  letters: 'a',
  'letters and dashes': 'a-',
  'letters and dots': 'a.',
  'letters and @': 'a@',
  commas: ',',
  slashes: '/',
  wildcards: '%_',
};

/** Header values: the beginning, the repeated piece, and the end. */
export const HOSTILE_HEADERS: Record<string, [begin: string, piece: string, end: string]> = {
  letters: ['', 'a', ''],
  digits: ['', '1', ''],
  commas: ['', ',', ''],
  semicolons: ['a/b', ';', ''],
  'quotation marks': ['', '"', ''],
  backslashes: ['"', '\\', '"'],
  'blanks inside': ['a', ' ', 'a'],
  'blanks behind a comma': ['bytes=0-0,', ' ', '-'],
  'blanks behind a sign': ['bytes', ' ', '-'],
  'words and blanks': ['', 'a ', 'a'],
  'media types': ['', 'a/b,', '*/*'],
  'media types with a weight': ['', 'a/b;q=0.1,', '*/*'],
  'media types with parameters': ['application/json', ';a=b', ''],
  'an open quotation': ['a/b;a="', 'a,', ''],
  'entity tags': ['', '"1",', '"2"'],
  'weak entity tags': ['', 'W/"1-a", ', 'W/"2"'],
  'open entity tags': ['', '"1-', ''],
  ranges: ['bytes=', '0-1,', '-1'],
  'ranges from the end': ['bytes=', '-1,', '-1'],
  'pairs of names and values': ['', 'a YQ==,', 'b YQ=='],
  'parts of a token': ['Bearer ', 'a.', 'a'],
  addresses: ['', '::1,', '::1'],
  origins: ['', 'http://a.b:1/', ''],
};

/** Bodies that are hostile as a whole: JSON, or nearly JSON. */
export const HOSTILE_BODIES: Record<string, (bytes: number) => string> = {
  'lists in lists': (bytes) => nested('[', '', ']', bytes),
  'objects in objects': (bytes) => nested('{"a":', '1', '}', bytes),
  'lists without an end': (bytes) => '['.repeat(bytes),
  'empty lists': (bytes) => enclosed('{"items":[', filled('[],', bytes), '[]]}'),
  'empty objects': (bytes) => enclosed('{"items":[', filled('{},', bytes), '{}]}'),
  'short names': (bytes) => unknownNames(bytes, (n) => n.toString(36)),
  'names that are numbers': (bytes) => unknownNames(bytes, (n) => String(n * 1_000)),
  'names that are escaped': (bytes) => unknownNames(bytes, (n) => '<'.repeat(2_000) + n),
  'names of prototypes': (bytes) => unknownNames(bytes, (n) => ['__proto__', 'constructor', 'toString'][n % 3]),
  'few long names': (bytes) => unknownNames(bytes, (n) => '\u0316\u0301'.repeat(bytes / 50) + n),
  'one long name': (bytes) => `{"${filled('<', bytes)}":1}`,
  'a long number': (bytes) => `{"price":${filled('1', bytes)}}`,
  'a long fraction': (bytes) => `{"price":0.${filled('0', bytes)}1}`,
  'escaped characters': (bytes) => `{"name":"${filled('\\u0301\\u0316', bytes)}"}`,
  'escaped quotation marks': (bytes) => `{"name":"${filled('\\"', bytes)}"}`,
  blanks: (bytes) => `${filled(' ', bytes)}{}`,
  'nothing but quotation marks': (bytes) => filled('"', bytes),
};

/** Bytes left for what stands around a value. */
const AROUND = 100;

/** Repeats a piece as often as it fits. */
export function filled(piece: string, bytes: number): string {
  return piece.repeat(Math.max(0, Math.floor((bytes - AROUND) / Buffer.byteLength(piece))));
}

/** A JSON string of one repeated piece. */
export function hostileString(piece: string, bytes: number): string {
  return `"${filled(JSON.stringify(piece).slice(1, -1), bytes)}"`;
}

/** A JSON string of one repeated piece, with a length in UTF-16 units. */
export function hostileStringOf(piece: string, units: number): string {
  return JSON.stringify(piece.repeat(Math.floor(units / piece.length)));
}

/** Percent-encoded. A lone surrogate is encoded like a careless client would. */
export function hostileUrlPart(piece: string, bytes: number): string {
  return filled(piece === '\ud800' ? '%ED%A0%80' : encodeURIComponent(piece), bytes);
}

export function hostileHeader([begin, piece, end]: [string, string, string], bytes: number): string {
  return enclosed(begin, filled(piece, bytes), end);
}

const enclosed = (begin: string, middle: string, end: string): string => begin + middle + end;

function nested(open: string, inside: string, close: string, bytes: number): string {
  const depth = Math.floor((bytes - AROUND) / (open.length + close.length));
  return open.repeat(depth) + inside + close.repeat(depth);
}

function unknownNames(bytes: number, nameOf: (index: number) => string): string {
  const attributes: string[] = [];
  for (let left = bytes - AROUND, index = 0; left > 0; index++) {
    attributes.push(`${JSON.stringify(nameOf(index))}:1`);
    left -= Buffer.byteLength(attributes[index]) + 1;
  }
  return `{${attributes.slice(0, -1).join()}}`;
}
