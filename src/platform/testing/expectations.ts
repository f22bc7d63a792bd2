import type { FieldViolation } from '../errors/api-error';
import { ERRORS, kindOf } from '../errors/error-codes';

/** An answer of fetch or of a raw connection. */
export interface ReceivedAnswer {
  status: number;
  headers: Headers | Record<string, string>;
  text: string;
}

interface ErrorExpectation {
  /** The fields that violate rules, each with the name or names of the rules. */
  fields?: Record<string, string | string[]>;
  /** A text of the request that the answer must not contain. */
  secret?: string;
}

interface ErrorBody {
  error: {
    code: string;
    message: string;
    details: string;
    timestamp: string;
    fields?: FieldViolation[];
  };
}

/** Expects the exact error envelope (variant B) with this code, and the headers of every error. Returns its content. */
export function expectError(answer: ReceivedAnswer, code: string, expected: ErrorExpectation = {}) {
  const { error } = expectErrorEnvelope(answer);
  expect({ status: answer.status, code: error.code }).toEqual({ status: kindOf(code).status, code });
  if (expected.fields) {
    const rules = Object.entries(expected.fields).flatMap(([field, names]) =>
      [names].flat().map((rule) => [field, rule]),
    );
    expect(error.fields?.map(({ field, rule }) => [field, rule]).sort()).toEqual(rules.sort());
  }
  if (expected.secret) expect(answer.text).not.toContain(expected.secret);
  return error;
}

/** Expects what every error has in common. */
export function expectErrorEnvelope(answer: ReceivedAnswer): ErrorBody {
  expect(answer.status).toBeGreaterThanOrEqual(400);
  expectErrorHeaders(answer);
  const body = parse(answer.text);
  expect(body).toEqual({
    error: {
      code: expect.stringMatching(/^[A-Z][A-Z0-9_]+$/),
      message: expect.stringMatching(/\S/),
      details: expect.stringMatching(/\S/),
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      ...((isInvalid(body) || isOfConflicts(body)) && { fields: expect.any(Array) }),
    },
  });
  const { code, details, fields } = body.error;
  expect(kindOf(code).status).toBe(answer.status);
  if (answer.status >= 500) expect(details).toBe(`Request ${headerOf(answer, 'x-request-id')}`);
  if (isInvalid(body)) expectFields(fields!);
  if (isOfRules(body)) expectSaid(fields!, details);
  if (isOfConflicts(body)) expectFields(fields!);
  return body;
}

const isInvalid = ({ error: { code } }: ErrorBody): boolean => code === 'VALIDATION_ERROR';

/** False for a developer's own 400, which has another message, and its text as details. */
function isOfRules(body: ErrorBody): boolean {
  return isInvalid(body) && body.error.message === ERRORS.VALIDATION_ERROR.message;
}

/** Errors that a team throws with the status name no fields. */
function isOfConflicts({ error: { code, fields } }: ErrorBody): boolean {
  return code === 'CONFLICT' && fields !== undefined;
}

/** Expects the headers of every error, which the answer to a HEAD has too. */
export function expectErrorHeaders(answer: ReceivedAnswer): void {
  const { status } = answer;
  expect(headerOf(answer, 'x-request-id')).toMatch(/^[A-Za-z0-9._-]{1,128}$/);
  expect(headerOf(answer, 'content-type')).toBe('application/json; charset=utf-8');
  expect(headerOf(answer, 'cache-control')).toBe('no-store');
  expect(headerOf(answer, 'x-content-type-options')).toBe('nosniff');
  expect(headerOf(answer, 'x-powered-by')).toBeUndefined();
  if (status === 401) expect(headerOf(answer, 'www-authenticate')).toMatch(/^Bearer/);
  if (status === 405) expect(headerOf(answer, 'allow')).toMatch(/^[A-Z]+(, [A-Z]+)*$/);
  if (status === 429 || status === 503) expect(headerOf(answer, 'retry-after')).toMatch(/^\d+$/);
}

/** Expects the success envelope (variant A) with no other attributes. Returns its data. */
export function expectSuccess(answer: ReceivedAnswer, status = 200, message = 'OK'): unknown {
  const { data, timestamp, ...rest } = JSON.parse(answer.text) as { data: unknown; timestamp: number };
  expect(answer.status).toBe(status);
  expect(rest).toEqual({ code: status, message });
  expect(Math.abs(Date.now() - timestamp)).toBeLessThan(60_000);
  expect(headerOf(answer, 'content-type')).toBe('application/json; charset=utf-8');
  return data;
}

export function headerOf({ headers }: ReceivedAnswer, name: string): string | undefined {
  return headers instanceof Headers ? (headers.get(name) ?? undefined) : headers[name];
}

function expectSaid(fields: FieldViolation[], details: string): void {
  expect(details).toBe(fields.map(({ field, message }) => `${field}: ${message}`).join('; '));
}

function expectFields(fields: FieldViolation[]): void {
  expect(fields).not.toHaveLength(0);
  for (const { available, ...field } of fields) {
    expect(field).toEqual({
      field: expect.any(String),
      rule: expect.stringMatching(/^[A-Za-z_]+$/),
      message: expect.stringMatching(/\S/),
    });
    expect([undefined, expect.any(Number)]).toContainEqual(available);
  }
}

function parse(text: string): ErrorBody {
  try {
    return JSON.parse(text) as ErrorBody;
  } catch {
    throw new Error(`Not JSON: ${JSON.stringify(text.slice(0, 500))}`);
  }
}
