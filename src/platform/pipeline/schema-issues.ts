import { HttpException, StandardSchemaValidationPipe } from '@nestjs/common';
import { type FieldViolation, MAX_VIOLATIONS } from '../errors/api-error';
import { sentence } from '../errors/http-exceptions';

type Issues = Parameters<StandardSchemaValidationPipe['formatIssueMessages']>[0];
type Segment = PropertyKey | { key: PropertyKey };

const noted = new WeakMap<object, Issues>();
const prototype = StandardSchemaValidationPipe.prototype;
const ofNest = Object.getOwnPropertyDescriptor(prototype, 'formatIssueMessages')
  ?.value as StandardSchemaValidationPipe['formatIssueMessages'];

/** Nest makes texts of the issues, in which paths can't be recognised. The original issues are recorded. */
prototype['formatIssueMessages'] = function (this: StandardSchemaValidationPipe, issues) {
  const messages = ofNest.call(this, issues);
  noted.set(messages, issues);
  return messages;
};

/**
 * The violations of a Standard Schema that Nest's pipe has found; undefined for any other exception.
 * @param name the parameter, if it is a part of the input
 * @param whole the field of an issue without a path
 */
export function schemaViolations(thrown: HttpException, name: string | undefined, whole: string) {
  const { message } = (thrown.getResponse() ?? {}) as { message?: object };
  const issues = typeof message === 'object' ? noted.get(message) : undefined;
  return issues?.slice(0, MAX_VIOLATIONS).map(({ path = [], message: text }): FieldViolation => {
    const names = path.map((segment: Segment) => String(typeof segment === 'object' ? segment.key : segment));
    return { field: [name ?? [], names].flat().join('.') || whole, rule: 'invalid', message: sentence(text) };
  });
}
