/** The beginnings of texts, names, comments and function bodies, in which a semicolon doesn't end a statement. */
const OPENING = /\bE'|'|"|--|\/\*|(?<![\w$\u0080-\uffff])\$(?:[a-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$/gi;
/** The ends, where they differ from the beginning. */
const CLOSING: Record<string, string> = { '--': '\n' };
const ESCAPED = /(?:[^'\\]|\\[\s\S]|'')*'/y;
const SPACES = /\s*/y;

/**
 * Splits a text into statements, without texts, names and comments: the driver sends several at once if there are no values. One
 * statement is returned as it is, from its first word on.
 */
export function statementsOf(text: string): string[] {
  if (!text.includes(';')) return [bare(text)];
  const parts: string[] = [];
  let from = 0;
  // A text may be long, such as the context of the audit: nothing is looked for inside of it.
  OPENING.lastIndex = 0;
  for (let found = OPENING.exec(text); found; found = OPENING.exec(text)) {
    const [sign] = found;
    parts.push(text.slice(from, found.index));
    OPENING.lastIndex = from = endOf(text, sign, found.index + sign.length);
  }
  const statements = [...parts, text.slice(from)].join(' ').split(';');
  return statements.map((one) => one.trim()).filter((one) => one !== '');
}

/** A text from its first word on, without the spaces and comments before it. */
export function bare(text: string): string {
  let start = 0;
  for (;;) {
    SPACES.lastIndex = start;
    SPACES.test(text);
    start = SPACES.lastIndex;
    const sign = text.slice(start, start + 2);
    if (sign !== '--' && sign !== '/*') return start === 0 ? text : text.slice(start);
    start = endOf(text, sign, start + 2);
  }
}

/** The end of what begins with this sign; the end of the text if it is unterminated. */
function endOf(text: string, sign: string, start: number): number {
  if (sign === '/*') return endOfComment(text, start);
  if (sign.toUpperCase() === "E'") {
    ESCAPED.lastIndex = start;
    return ESCAPED.test(text) ? ESCAPED.lastIndex : text.length;
  }
  const closing = CLOSING[sign] ?? sign;
  const end = text.indexOf(closing, start);
  return end < 0 ? text.length : end + closing.length;
}

/** PostgreSQL's comments may be nested. */
function endOfComment(text: string, start: number): number {
  const signs = /\/\*|\*\//g;
  signs.lastIndex = start;
  for (let depth = 1; depth > 0;) {
    const [sign] = signs.exec(text) ?? [];
    if (!sign) return text.length;
    depth += sign === '/*' ? 1 : -1;
  }
  return signs.lastIndex;
}
