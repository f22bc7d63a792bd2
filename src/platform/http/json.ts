const UNSAFE_IN_HTML = /[<>&\u2028\u2029]/g;
/** The same for a test: most texts match nothing, and replace() would copy them. */
const ANY_UNSAFE = /[<>&\u2028\u2029]/;
const ESCAPES: Record<string, string> = {
  '<': '\\u003c',
  '>': '\\u003e',
  '&': '\\u0026',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
};
/** Texts of this length or longer are escaped as bytes: replace() takes six times as long if many characters match. */
const LONG = 8_192;

/**
 * JSON that can be embedded in a page: `<`, `>`, `&` and the two line separators are escaped as `\u....`, which every
 * JSON parser decodes. They only occur inside strings, so the text can be escaped as a whole.
 */
export function toJson(value: unknown): string {
  const text = JSON.stringify(value);
  if (!ANY_UNSAFE.test(text)) return text;
  if (text.length > LONG) return escapedBytes(text).toString();
  return text.replace(UNSAFE_IN_HTML, (character) => ESCAPES[character]);
}

/** The same in UTF-8 for the text that JSON.stringify() has made of a large value. */
export function safeBytes(text: string): Buffer {
  return ANY_UNSAFE.test(text) ? escapedBytes(text) : Buffer.from(text);
}

/** The escape of each character, by the first byte of its UTF-8. */
const BY_FIRST_BYTE = ((): (Buffer | undefined)[] => {
  const escapes = new Array<Buffer | undefined>(256).fill(undefined);
  for (const character of '<>&') escapes[character.charCodeAt(0)] = Buffer.from(ESCAPES[character]);
  return escapes;
})();
/** U+2028 and U+2029 in UTF-8: E2 80 A8 and E2 80 A9. */
const SEPARATOR = { first: 0xe2, second: 0x80, third: 0xa8, escape: Buffer.from('\\u202') };
const DIGIT_EIGHT = 0x38;

function escapedBytes(text: string): Buffer {
  const plain = Buffer.from(text);
  const safe = Buffer.allocUnsafe(plain.length + growthOf(plain));
  let end = 0;
  for (let at = 0; at < plain.length; at++) {
    const byte = plain[at];
    const escape = BY_FIRST_BYTE[byte];
    if (escape) {
      for (let index = 0; index < escape.length; index++) safe[end++] = escape[index];
    } else if (isSeparator(plain, at)) {
      for (let index = 0; index < SEPARATOR.escape.length; index++) safe[end++] = SEPARATOR.escape[index];
      safe[end++] = DIGIT_EIGHT + (plain[at + 2] & 1);
      at += 2;
    } else {
      safe[end++] = byte;
    }
  }
  return safe;
}

/** The number of bytes that escaping adds. */
function growthOf(plain: Buffer): number {
  let growth = 0;
  for (let at = 0; at < plain.length; at++) {
    if (BY_FIRST_BYTE[plain[at]]) growth += 5;
    else if (isSeparator(plain, at)) growth += 3;
  }
  return growth;
}

function isSeparator(bytes: Buffer, at: number): boolean {
  return (
    bytes[at] === SEPARATOR.first && bytes[at + 1] === SEPARATOR.second && (bytes[at + 2] & ~1) === SEPARATOR.third
  );
}
