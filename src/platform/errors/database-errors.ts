import { isNativeError } from 'node:util/types';
import {
  EntityNotFoundError,
  QueryFailedError,
  QueryRunnerAlreadyReleasedError,
  QueryRunnerProviderAlreadyReleasedError,
} from 'typeorm';
import { type BrokenConstraint, subjectOf } from '../rows/constraints';
import { otherViolations } from '../rows/refused-writes';
import { ConnectionError } from '../transactions/connection-error';
import { bare } from '../transactions/statements-of';
import { ReleasedError } from '../transactions/released-runner';
import { ApiError, conflict, unusable, validationError } from './api-error';
import { notFound, nounOf } from './not-found';

/** The properties of node-postgres's error. Codes: https://www.postgresql.org/docs/15/errcodes-appendix.html */
interface PostgresError extends BrokenConstraint {
  code?: string;
  message?: string;
}

const UNREACHABLE =
  /^(ECONNREFUSED|ECONNRESET|ECONNABORTED|ENOTFOUND|EPIPE|ETIMEDOUT|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/;
/**
 * 08: connection, 53: resources, 57P: shutdown, 57014: cancelled (by a time limit), 55P03: a lock that isn't waited for, 40:
 * serialisation failure or deadlock.
 */
const TEMPORARY = /^(08|53|57P|57014|55P03|40)/;
const LOST_CONNECTION =
  /connection (terminated|ended|timeout)|timeout exceeded when trying to connect|not queryable|driver not connected/i;
/** The errors of TypeORM for a transaction whose connection was lost. */
const LOST_TRANSACTION = [QueryRunnerAlreadyReleasedError, QueryRunnerProviderAlreadyReleasedError];

/** The answer to an error of TypeORM or PostgreSQL; undefined for any other error. */
export function fromDatabaseError(thrown: unknown): ApiError | undefined {
  if (thrown instanceof EntityNotFoundError) return rowNotFound(thrown);
  if (thrown instanceof ConnectionError) return new ApiError('SERVICE_UNAVAILABLE', { cause: thrown });
  if (!isNativeError(thrown)) return undefined;
  const error = (thrown instanceof QueryFailedError ? thrown.driverError : thrown) as PostgresError;
  const { code = '' } = error;
  if (code === '23505' || code === '23P01') return duplicate(error, thrown);
  if (code === '23001' || (code === '23503' && isDeletion(thrown, error))) return stillInUse(thrown);
  if (code === '23514' || code === '23503') return brokenRule(error, thrown);
  if (thrown instanceof ReleasedError) return undefined;
  const lost = LOST_CONNECTION.test(thrown.message) || LOST_TRANSACTION.some((type) => thrown instanceof type);
  if (lost || TEMPORARY.test(code) || UNREACHABLE.test(code)) {
    return new ApiError('SERVICE_UNAVAILABLE', { cause: thrown });
  }
  return undefined;
}

/** The SQLSTATE of a failed statement. */
export function sqlStateOf(thrown: unknown): string | undefined {
  if (!isNativeError(thrown)) return undefined;
  const { code } = (thrown instanceof QueryFailedError ? thrown.driverError : thrown) as PostgresError;
  return code;
}

function rowNotFound(error: EntityNotFoundError): ApiError {
  const target = error.entityClass;
  return notFound(nounOf(typeof target === 'function' ? target.name : 'Resource'), error);
}

/** A violated unique index or exclusion constraint. */
function duplicate(error: PostgresError, cause: Error): ApiError {
  const { attributes } = subjectOf(error);
  return attributes.length > 0
    ? taken([attributes], cause)
    : new ApiError('CONFLICT', { details: 'It exists already', cause });
}

/** The answer to a write that a unique constraint has refused, with all values that are taken. */
export async function allTaken(refusal: Error): Promise<ApiError> {
  const first = (refusal instanceof QueryFailedError ? refusal.driverError : refusal) as PostgresError;
  // The write is a conflict in any case.
  const others = await otherViolations(refusal).catch(() => []);
  const subjects = [first, ...others].map((one) => subjectOf(one).attributes).filter(({ length }) => length > 0);
  return subjects.length > 1 ? taken(subjects, refusal) : duplicate(first, refusal);
}

/** 409 for values that other rows have, one for each attribute. */
export function alreadyTaken(...attributes: string[]): ApiError {
  return taken(attributes.map((attribute) => [attribute]));
}

/** @param subjects the attributes of each violated constraint */
function taken(subjects: string[][], cause?: Error): ApiError {
  const conflicts = subjects.map(([field, ...others]) => {
    const message = ['is already taken', ...(others.length > 0 ? [`together with ${others.join(', ')}`] : [])];
    return { field, rule: 'unique', message: message.join(' ') };
  });
  const details = subjects.map((attributes) => `${attributes.join(', ')}: is already taken`).join('; ');
  return conflict(conflicts, { details, cause });
}

/**
 * PostgreSQL uses one code for a row that refers to a missing row, and for deleting a row that is referred to (RESTRICT
 * has its own from version 18 on). Its message tells them apart in English, also for a COMMIT.
 */
function isDeletion(thrown: Error, { message }: PostgresError): boolean {
  if (/^update or delete on table/.test(message ?? '')) return true;
  return thrown instanceof QueryFailedError && /^delete\b/i.test(bare(thrown.query));
}

/** 409 for deleting a resource that others refer to. */
export function stillInUse(cause?: Error): ApiError {
  const message = 'is still referred to by something else';
  return conflict([{ field: 'id', rule: 'reference', message }], {
    details: 'Something else still refers to it',
    cause,
  });
}

/** A violated check or foreign key: the last check behind the DTO. */
function brokenRule(error: PostgresError, cause: Error): ApiError {
  // TypeORM's own names of constraints tell no rule.
  const { attributes, rule = error.code === '23503' ? 'fkey' : 'constraint' } = subjectOf(error);
  const fields = attributes.length > 0 ? attributes : ['body'];
  const violations = fields.map((field) =>
    rule === 'fkey' ? unusable(field) : { field, rule, message: 'is not acceptable' },
  );
  return Object.assign(validationError(violations), { cause });
}
