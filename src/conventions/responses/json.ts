const UNSAFE_IN_HTML = /[<>&\u2028\u2029]/g;
/** The same for one look: most texts have none, and replace() would copy them. */
const ANY_UNSAFE = /[<>&\u2028\u2029]/;

/**
 * JSON that stays harmless when a page embeds it: `<`, `>`, `&` and the two line separators leave as `\u....`, which
 * every JSON parser turns back. They occur only inside strings, so the text as a whole can be escaped.
 */
export function toJson(value: unknown): string {
  const text = JSON.stringify(value);
  if (!ANY_UNSAFE.test(text)) return text;
  return text.replace(UNSAFE_IN_HTML, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
