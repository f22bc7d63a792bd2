import { hasTooManyMarks, isTooLong, MAX_MARKS } from '../text/composed-text';
import { isEmailAddress, MAX_EMAIL } from '../text/email-address';
import { attribute, type AttributeOptions, isString, pureAttribute, type Rule, rule } from './attribute';
import { MAX_WEB_ADDRESS, parseWebAddress } from '../text/web-address';
import { hasLength, lengthMessage, normalise, textPattern, wholePattern } from '../text/text';

export interface TextOptions extends AttributeOptions {
  /** The least length in code points. Default: 0 */
  min?: number;
  /** The greatest length in code points. */
  max: number;
  /** Allows newlines and tabs. Default: false */
  multiline?: boolean;
  /** A secret is neither trimmed nor ever sent. Default: false */
  secret?: boolean;
  /** A character that is not allowed. */
  without?: string;
  /**
   * A pattern for the whole text, e.g. `/[A-Z]{2}/`. Only the flag `u` is allowed, as JSON Schema has no others. List
   * the allowed characters. Such a text isn't trimmed. Default: any text
   */
  pattern?: RegExp;
  /** The message for a text that doesn't match the pattern, e.g. `must be two capital letters`. */
  message?: string;
  /** A rule that no pattern can express. It is only checked if all other rules hold. Default: none */
  also?: { name: string; message: string; holds: (text: string) => boolean };
}

const LONE_SURROGATE = /\p{Surrogate}/u;
const CONTROL = /\p{Cc}/u;
const CONTROL_BUT_NEWLINE_AND_TAB = /(?![\n\t])\p{Cc}/u;

/** What a text is asked, without the type, and how it is documented and normalised. */
export interface TextKind {
  /** The rule about the length comes first. */
  rules: Rule[];
  schema: { minLength?: number; maxLength: number; pattern: string };
  normalise: (text: string) => string;
}

/**
 * Text that is normalised to NFC, trimmed, counted in code points, and free of control characters. A text that is too
 * long isn't processed.
 */
export function Text(options: TextOptions): PropertyDecorator {
  const { rules, schema, normalise } = textKind(options);
  // `also` may give another result the next time, so such a query isn't cached.
  const define = options.also ? attribute : pureAttribute;
  return define(
    { name: 'type', message: 'must be a string', holds: isString },
    rules,
    { type: String, ...schema },
    options,
    (value) => (isString(value) ? normalise(value) : value),
  );
}

export function textKind({
  min = 0,
  max,
  multiline = false,
  secret = false,
  without,
  pattern,
  message = `must match ${pattern?.source}`,
  also,
}: TextOptions): TextKind {
  const form = pattern && wholePattern(pattern);
  const isReadable = readable(max);
  const rules = [
    lengthRule(min, max),
    ...characterRules(max, multiline ? CONTROL_BUT_NEWLINE_AND_TAB : CONTROL),
    // An empty secret already violates the rule about the length.
    ...(secret ? [rule('blank', 'must not be blank', isReadable, (text) => text === '' || text.trim() !== '')] : []),
    ...(without ? [rule('pattern', `must not contain ${without}`, isReadable, (text) => !text.includes(without))] : []),
  ];
  if (form) rules.push(lastRule('pattern', message, matches(form), [...rules]));
  if (also) rules.push(lastRule(also.name, also.message, also.holds, [...rules]));
  return {
    rules,
    schema: {
      minLength: min || undefined,
      maxLength: max,
      pattern: form ?? textPattern({ min, multiline, secret, without }),
    },
    normalise: (text) => normalise(text, { max, multiline, asItIs: secret || !!form }),
  };
}

export function EmailAddress(options: AttributeOptions = {}): PropertyDecorator {
  const rules = [lengthRule(0, MAX_EMAIL), ...characterRules(MAX_EMAIL, CONTROL)];
  return pureAttribute(
    { name: 'type', message: 'must be a string', holds: isString },
    [...rules, lastRule('email', 'must be a valid e-mail address', isEmailAddress, rules)],
    { type: String, format: 'email', maxLength: MAX_EMAIL },
    options,
    (value) => (isString(value) ? normalise(value, { max: MAX_EMAIL }) : value),
  );
}

/** A URL of http or https without a user name and password. It is written as RFC 3986 does, in ASCII alone. */
export function WebAddress(options: AttributeOptions = {}): PropertyDecorator {
  const rules = [lengthRule(0, MAX_WEB_ADDRESS), ...characterRules(MAX_WEB_ADDRESS, CONTROL)];
  const message = 'must be an address that begins with http:// or https://, without a user name and password';
  const isAddress = (text: string) => parseWebAddress(text) === text;
  return pureAttribute(
    { name: 'type', message: 'must be a string', holds: isString },
    [...rules, lastRule('url', message, isAddress, rules)],
    { type: String, format: 'uri', maxLength: MAX_WEB_ADDRESS },
    options,
    (value) => (isString(value) ? (parseWebAddress(value.trim()) ?? value) : value),
  );
}

/** A text that is too long is only checked by the rule about the length. */
function readable(max: number): (value: unknown) => value is string {
  return (value): value is string => isString(value) && !isTooLong(value, max);
}

function lengthRule(min: number, max: number): Rule {
  return rule('length', lengthMessage(min, max), isString, (text) => hasLength(text, min, max));
}

function characterRules(max: number, control: RegExp): Rule[] {
  const isReadable = readable(max);
  return [
    rule('encoding', 'must be well-formed Unicode', isReadable, (text) => !LONE_SURROGATE.test(text)),
    rule('characters', 'must not contain control characters', isReadable, (text) => !control.test(text)),
    rule('marks', marksMessage, isReadable, (text) => !hasTooManyMarks(text)),
  ];
}

export const marksMessage = `must not have more than ${MAX_MARKS} combining marks in a row`;

/** Holds for a text that violates another rule, which is reported already. */
function lastRule(name: string, message: string, holds: (text: string) => boolean, others: Rule[]): Rule {
  return rule(name, message, isString, (text) => others.some((other) => !other.holds(text)) || holds(text));
}

function matches(form: string): (text: string) => boolean {
  const expression = new RegExp(form, 'u');
  return (text) => expression.test(text);
}
