/** What begins something in which a semicolon ends nothing: texts, names, comments, and bodies of functions. */
const OPENING = /\bE'|'|"|--|\/\*|\$\w*\$/gi;
/** What ends it, where that isn't the same sign again. */
const CLOSING: Record<string, string> = { '--': '\n', '/*': '*/' };
const ESCAPED = /(?:[^'\\]|\\[\s\S]|'')*'/y;

/** The statements of a text: without values, the driver sends PostgreSQL several at once. */
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

/** Of what begins with this sign; what nothing ends goes on to the end of the text. */
function endOf(text: string, sign: string, start: number): number {
  if (sign.toUpperCase() === "E'") {
    ESCAPED.lastIndex = start;
    return ESCAPED.test(text) ? ESCAPED.lastIndex : text.length;
  }
  const closing = CLOSING[sign] ?? sign;
  const end = text.indexOf(closing, start);
  return end < 0 ? text.length : end + closing.length;
}
