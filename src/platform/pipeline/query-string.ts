import { type FieldViolation, MAX_VIOLATIONS, validationError } from '../errors/api-error';
import { isRepeatable } from '../input/repeatable';

/**
 * More parameters than any route has: the answer to thousands of unknown ones would be much longer than the request.
 */
export const MAX_PARAMETERS = 100;
const MALFORMED = { rule: 'encoding', message: 'must be well-formed percent-encoded UTF-8' };
const REPEATED = { rule: 'once', message: 'must be given at most once' };

interface Text {
  /** The field that errors name. */
  field: string;
  /** The number of parameters that are allowed. */
  max: number;
  /** Whether a name may be given several times: its values are joined by commas. Default: none may */
  repeats?: (name: string) => boolean;
}

const QUERY: Text = { field: 'query', max: MAX_PARAMETERS, repeats: isRepeatable };
const never = () => false;

/**
 * Parses a query, or a form of the same syntax, strictly: each name once, no nesting, well-formed UTF-8. Express's own
 * parsers silently read `a=1&a=2` as a list, and replace malformed bytes. A list in a query may be repeated instead of
 * separated by commas. Its own rule says how long it may be.
 * @throws {ApiError} VALIDATION_ERROR
 */
export function parseQuery(
  text: string | null | undefined,
  { field: whole, max, repeats = never }: Text = QUERY,
): Record<string, string> {
  const pairs = (text ?? '').split('&').filter((pair) => pair !== '');
  if (pairs.length > max && countOf(pairs, repeats) > max) {
    throw validationError([{ field: whole, rule: 'size', message: `must not hold more than ${max} parameters` }]);
  }
  const values = new Map<string, string>();
  const violations = new Map<string, FieldViolation>();
  let malformed = 0;
  for (const pair of pairs) {
    const [name, value] = decodePair(pair);
    const field = name ?? whole;
    if (name === undefined || value === undefined) {
      violations.set(field, { field, ...MALFORMED });
      // The answer names no more, and each costs two errors with their stacks.
      if (++malformed === MAX_VIOLATIONS) break;
    } else if (!values.has(name)) values.set(name, value);
    else if (repeats(name)) values.set(name, `${values.get(name)},${value}`);
    else violations.set(field, { field, ...REPEATED });
  }
  if (violations.size > 0) throw validationError([...violations.values()]);
  return Object.fromEntries(values);
}

/** The number of parameters that are no lists. */
const countOf = (pairs: string[], repeats: (name: string) => boolean): number =>
  pairs.filter((pair) => !repeats(pair.split('=', 1)[0])).length;

function decodePair(pair: string): [name: string | undefined, value: string | undefined] {
  const at = pair.indexOf('=');
  return at < 0 ? [decode(pair), ''] : [decode(pair.slice(0, at)), decode(pair.slice(at + 1))];
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
