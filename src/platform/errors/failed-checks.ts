import { ApiError } from './api-error';

/** The result of @nestjs/terminus. */
interface HealthCheckResult {
  status: 'error' | 'shutting_down';
  /** What is down, by name. */
  error: Record<string, unknown>;
  details: object;
}

/** Limits of the names and of the texts, which any code may have made. */
const MAX_CHECKS = 20;
const MAX_LENGTH = 200;

/**
 * The answer to a failed health check. It names what is down. The reasons may contain hosts and ports, so they are only
 * logged.
 */
export function fromHealthCheck(body: unknown, thrown: Error): ApiError | undefined {
  if (!isResult(body)) return undefined;
  const failed = Object.entries(body.error).slice(0, MAX_CHECKS);
  if (failed.length === 0) return undefined;
  const names = failed.map(([name]) => name.slice(0, MAX_LENGTH)).join(', ');
  const reasons = failed.map(([name, check]) => name + reasonIn(check)).join(', ');
  const cause = new Error(`These checks failed: ${reasons}`, { cause: thrown });
  return new ApiError('SERVICE_UNAVAILABLE', { message: `These checks failed: ${names}`, cause });
}

function isResult(body: unknown): body is HealthCheckResult {
  const { status, error, details } = (body ?? {}) as Partial<HealthCheckResult>;
  return (status === 'error' || status === 'shutting_down') && isObject(error) && isObject(details);
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** What an indicator says of itself, which may be anything. */
function reasonIn(check: unknown): string {
  const message: unknown = isObject(check) && 'message' in check ? check.message : undefined;
  if (!message) return '';
  return ` (${typeof message === 'string' ? message.slice(0, MAX_LENGTH) : 'no text'})`;
}
