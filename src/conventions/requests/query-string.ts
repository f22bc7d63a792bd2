import { type FieldViolation, validationError } from '../errors/api-error';

/**
 * Parses a query strictly: each name once, no nesting, well-formed UTF-8. Express's own parsers read `a=1&a=2` as a
 * list and turn malformed bytes into other characters without a word.
 * @throws {ApiError} VALIDATION_ERROR
 */
export function parseQuery(text: string | undefined): Record<string, string> {
  const values = new Map<string, string>();
  const violations: FieldViolation[] = [];
  for (const pair of (text ?? '').split('&')) {
    if (pair === '') continue;
    const at = pair.indexOf('=');
    const name = decode(at < 0 ? pair : pair.slice(0, at));
    const value = decode(at < 0 ? '' : pair.slice(at + 1));
    if (name === undefined || value === undefined) {
      violations.push({
        field: name ?? 'query',
        rule: 'encoding',
        message: 'must be well-formed percent-encoded UTF-8',
      });
    } else if (values.has(name)) {
      violations.push({ field: name, rule: 'once', message: 'must be given at most once' });
    } else {
      values.set(name, value);
    }
  }
  if (violations.length > 0) throw validationError(violations);
  return Object.fromEntries(values);
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
