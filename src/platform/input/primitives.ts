/** Digits and more than a double holds are no number. */
const MAX_LENGTH = 24;
const DECIMAL = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;

const MESSAGES = new Map<unknown, string>([
  [Number, 'must be a number in decimal digits'],
  [Boolean, 'must be true or false'],
]);

/** What a text of a path or query is as what its parameter is declared with; undefined when it is none of that. */
export function asPrimitive(text: string, type: unknown): number | boolean | undefined {
  if (type === Number) return numberOf(text);
  if (type === Boolean) return text === 'true' || (text === 'false' ? false : undefined);
  return undefined;
}

/** What to say of one that isn't; undefined for a type that any text is good for. */
export const primitiveMessage = (type: unknown): string | undefined => MESSAGES.get(type);

function numberOf(text: string): number | undefined {
  if (text.length > MAX_LENGTH || !DECIMAL.test(text)) return undefined;
  const number = Number(text);
  return Number.isInteger(number) && !Number.isSafeInteger(number) ? undefined : number;
}
