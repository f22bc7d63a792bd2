import { ApiError } from './api-error';

/** As @nestjs/terminus has it. */
interface HealthCheckResult {
  status: 'error' | 'shutting_down';
  /** What is down, by name. */
  error: Record<string, { message?: unknown }>;
  details: object;
}

/** Of names, and of what each tells, which may come from anywhere. */
const MAX_CHECKS = 20;
const MAX_LENGTH = 200;

/**
 * The answer to a health check that failed: it names what is down. Why it is down may tell of the inside of the service, of hosts
 * and ports, say, and goes to the log.
 */
export function fromHealthCheck(body: unknown, thrown: Error): ApiError | undefined {
  if (!isResult(body)) return undefined;
  const failed = Object.entries(body.error).slice(0, MAX_CHECKS);
  if (failed.length === 0) return undefined;
  const names = failed.map(([name]) => name.slice(0, MAX_LENGTH)).join(', ');
  const reasons = failed.map(([name, { message }]) => (message ? `${name} (${textOf(message)})` : name)).join(', ');
  const cause = new Error(`These checks failed: ${reasons}`, { cause: thrown });
  return new ApiError('SERVICE_UNAVAILABLE', { message: `These checks failed: ${names}`, cause });
}

function isResult(body: unknown): body is HealthCheckResult {
  const { status, error, details } = (body ?? {}) as Partial<HealthCheckResult>;
  return (status === 'error' || status === 'shutting_down') && typeof error === 'object' && typeof details === 'object';
}

const textOf = (message: unknown): string => (typeof message === 'string' ? message.slice(0, MAX_LENGTH) : 'no text');
