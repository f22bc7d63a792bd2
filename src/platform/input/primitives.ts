/** The greatest length of a number in characters, more than a double needs. */
const MAX_LENGTH = 24;
const DECIMAL = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;

const MESSAGES = new Map<unknown, string>([
  [Number, 'must be a number in decimal digits'],
  [Boolean, 'must be true or false'],
]);

/** Converts a text of a path or query to the declared type of its parameter. Undefined if it isn't possible. */
export function asPrimitive(text: string, type: unknown): number | boolean | undefined {
  if (type === Number) return numberOf(text);
  if (type === Boolean) return text === 'true' || (text === 'false' ? false : undefined);
  return undefined;
}

/** The message for a text that isn't of the type. Undefined for a type that accepts any text. */
export const primitiveMessage = (type: unknown): string | undefined => MESSAGES.get(type);

function numberOf(text: string): number | undefined {
  if (text.length > MAX_LENGTH || !DECIMAL.test(text)) return undefined;
  const number = Number(text);
  return Number.isInteger(number) && !Number.isSafeInteger(number) ? undefined : number;
}
