/** The beginnings of texts, names, comments and function bodies, in which a semicolon doesn't end a statement. */
const OPENING = /\bE'|'|"|--|\/\*|\$\w*\$/gi;
/** The ends, where they differ from the beginning. */
const CLOSING: Record<string, string> = { '--': '\n', '/*': '*/' };
const ESCAPED = /(?:[^'\\]|\\[\s\S]|'')*'/y;

/** Splits a text into statements: the driver sends several at once if there are no values. */
export function statementsOf(text: string): string[] {
  if (!text.includes(';')) return [text];
  const parts: string[] = [];
  let from = 0;
  for (const { 0: sign, index } of text.matchAll(OPENING)) {
    if (index < from) continue;
    parts.push(text.slice(from, index));
    from = endOf(text, sign, index + sign.length);
  }
  return [...parts, text.slice(from)].join(' ').split(';');
}

/** The end of what begins with this sign; the end of the text if it is unterminated. */
function endOf(text: string, sign: string, start: number): number {
  if (sign.toUpperCase() === "E'") {
    ESCAPED.lastIndex = start;
    return ESCAPED.test(text) ? ESCAPED.lastIndex : text.length;
  }
  const closing = CLOSING[sign] ?? sign;
  const end = text.indexOf(closing, start);
  return end < 0 ? text.length : end + closing.length;
}
