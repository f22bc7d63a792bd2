import { isNativeError } from 'node:util/types';
import {
  EntityNotFoundError,
  QueryFailedError,
  QueryRunnerAlreadyReleasedError,
  QueryRunnerProviderAlreadyReleasedError,
} from 'typeorm';
import { ApiError, validationError } from './api-error';

/** What node-postgres tells of a failed statement. Codes: https://www.postgresql.org/docs/15/errcodes-appendix.html */
interface PostgresError {
  code?: string;
  constraint?: string;
}

const UNREACHABLE = /^(ECONNREFUSED|ECONNRESET|ENOTFOUND|EPIPE|ETIMEDOUT|EAI_AGAIN|EHOSTUNREACH)$/;
/** 08 connection, 53 resources, 57P admin shutdown, 57014 cancelled (by our timeout), 40 serialisation or deadlock. */
const TEMPORARY = /^(08|53|57P|57014|40)/;
const LOST_CONNECTION =
  /connection (terminated|ended|timeout)|timeout exceeded when trying to connect|not queryable|driver not connected/i;
/** What TypeORM tells the next statement of a transaction whose connection was lost. */
const LOST_TRANSACTION = [QueryRunnerAlreadyReleasedError, QueryRunnerProviderAlreadyReleasedError];

/** The answer to an error of TypeORM or of PostgreSQL; undefined when it is neither. */
export function fromDatabaseError(thrown: unknown): ApiError | undefined {
  if (thrown instanceof EntityNotFoundError) return notFound(thrown);
  if (!isNativeError(thrown)) return undefined;
  const { code = '', constraint = '' } = (
    thrown instanceof QueryFailedError ? thrown.driverError : thrown
  ) as PostgresError;
  if (code === '23505') return duplicate(constraint, thrown);
  if (code === '23514' || code === '23503') return brokenRule(constraint, thrown);
  const lost = LOST_CONNECTION.test(thrown.message) || LOST_TRANSACTION.some((type) => thrown instanceof type);
  if (lost || TEMPORARY.test(code) || UNREACHABLE.test(code)) {
    return new ApiError('SERVICE_UNAVAILABLE', { cause: thrown });
  }
  return undefined;
}

function notFound(error: EntityNotFoundError): ApiError {
  const target = error.entityClass;
  const name = typeof target === 'function' ? target.name : 'Resource';
  return name === 'User'
    ? new ApiError('USER_NOT_FOUND', { cause: error })
    : new ApiError('NOT_FOUND', { message: `${name} not found`, cause: error });
}

/** Unique indexes are named `<table>_<attribute>_unique`, so that the name tells the attribute. */
function duplicate(constraint: string, cause: Error): ApiError {
  const attribute = /^[^_]+_(.+)_unique$/.exec(constraint)?.[1];
  return attribute ? alreadyTaken(attribute, cause) : new ApiError('CONFLICT', { details: 'It exists already', cause });
}

/** 409 for an attribute that must be unique. */
export function alreadyTaken(attribute: string, cause?: Error): ApiError {
  return new ApiError('CONFLICT', { details: `${attribute}: is already taken`, cause });
}

/** Check and foreign key constraints are named `<table>_<attribute>_<rule>`: the last line of defence behind the DTO. */
function brokenRule(constraint: string, cause: Error): ApiError {
  const [, field = 'body', rule = 'constraint'] = /^[^_]+_(.+)_([^_]+)$/.exec(constraint) ?? [];
  return Object.assign(validationError([{ field, rule, message: 'is not acceptable' }]), { cause });
}
