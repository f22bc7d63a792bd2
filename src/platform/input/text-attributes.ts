import { hasTooManyMarks, isTooLong, MAX_MARKS } from '../text/composed-text';
import { isEmailAddress, MAX_EMAIL } from '../text/email-address';
import { attribute, type AttributeOptions, isString, pureAttribute, type Rule, rule } from './attribute';
import { hasLength, lengthMessage, normalise, textPattern, wholePattern } from '../text/text';

export interface TextOptions extends AttributeOptions {
  /** Code points. Default: 0 */
  min?: number;
  /** Code points. */
  max: number;
  /** Newlines and tabs are fine. Default: false */
  multiline?: boolean;
  /** Neither trimmed nor ever sent out. Default: false */
  secret?: boolean;
  /** A character that it may not contain. */
  without?: string;
  /**
   * What all of it has to be, e.g. `/[A-Z]{2}/`; flags but `u` are none of a document's. Name the characters that there may
   * be: such a text is taken as it is, with no blanks cut off around it. Default: anything
   */
  pattern?: RegExp;
  /** What the error says of a text that doesn't match the pattern, e.g. `must be two capital letters`. */
  message?: string;
  /** What no pattern can say. It is asked about texts that keep all other rules. Default: nothing */
  also?: { name: string; message: string; holds: (text: string) => boolean };
}

const LONE_SURROGATE = /\p{Surrogate}/u;
const CONTROL = /\p{Cc}/u;
const CONTROL_BUT_NEWLINE_AND_TAB = /(?![\n\t])\p{Cc}/u;

/** Text: NFC, trimmed, counted in code points, free of control characters. Nothing is done with one that is too long. */
export function Text({
  min = 0,
  max,
  multiline = false,
  secret = false,
  without,
  pattern,
  message = `must match ${pattern?.source}`,
  also,
  ...options
}: TextOptions): PropertyDecorator {
  const form = pattern && wholePattern(pattern);
  const isReadable = readable(max);
  const rules = [
    lengthRule(min, max),
    ...characterRules(max, multiline ? CONTROL_BUT_NEWLINE_AND_TAB : CONTROL),
    // An empty secret breaks the length already.
    ...(secret ? [rule('blank', 'must not be blank', isReadable, (text) => text === '' || text.trim() !== '')] : []),
    ...(without ? [rule('pattern', `must not contain ${without}`, isReadable, (text) => !text.includes(without))] : []),
  ];
  if (form) rules.push(lastRule('pattern', message, matches(form), [...rules]));
  if (also) rules.push(lastRule(also.name, also.message, also.holds, [...rules]));
  // What else is asked of it may have another answer the next time.
  const define = also ? attribute : pureAttribute;
  return define(
    { name: 'type', message: 'must be a string', holds: isString },
    rules,
    {
      type: String,
      minLength: min || undefined,
      maxLength: max,
      pattern: form ?? textPattern({ min, multiline, secret, without }),
      writeOnly: secret || undefined,
    },
    options,
    (value) => (isString(value) ? normalise(value, { max, multiline, asItIs: secret || !!form }) : value),
  );
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

/** Of a text that is too long nothing else is looked at. */
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

/** What breaks another rule is told that already. */
function lastRule(name: string, message: string, holds: (text: string) => boolean, others: Rule[]): Rule {
  return rule(name, message, isString, (text) => others.some((other) => !other.holds(text)) || holds(text));
}

function matches(form: string): (text: string) => boolean {
  const expression = new RegExp(form, 'u');
  return (text) => expression.test(text);
}
