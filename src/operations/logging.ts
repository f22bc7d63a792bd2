import { createRequire } from 'node:module';
import pino, { type Logger, type LoggerOptions } from 'pino';
import type { Settings } from '../config/settings';

const EMAIL = /[^\s"'(=<]+@[^\s"')>,;]+/g;
const TOKEN = /\b[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]+/g;

interface LoggedError {
  type: string;
  message: string;
  stack?: string;
  code?: string;
  constraint?: string;
  cause?: LoggedError;
}

/** JSON lines, or readable ones in development. */
export function createLogger(settings: Settings): Logger {
  const options: LoggerOptions = {
    level: settings.LOG_LEVEL,
    base: { pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { err: describeError },
  };
  const pretty = settings.NODE_ENV === 'development' && prettyTarget();
  if (!pretty) return pino(options);
  // A transport takes no formatters.
  return pino({
    ...options,
    formatters: {},
    transport: { target: pretty, options: { ignore: 'pid', singleLine: true } },
  });
}

/**
 * What may be logged of an error. Errors of TypeORM and of the driver carry the statement's parameters and the row, and
 * with them e-mail addresses and password hashes; only what is named here goes out.
 */
export function describeError(error: unknown): LoggedError | string {
  if (!(error instanceof Error)) return redact(String(error));
  const { code, constraint } = error as { code?: unknown; constraint?: unknown };
  return {
    type: error.constructor.name,
    message: redact(error.message),
    stack: error.stack && redact(error.stack),
    ...(typeof code === 'string' && { code }),
    ...(typeof constraint === 'string' && { constraint }),
    ...(error.cause instanceof Error && { cause: describeError(error.cause) as LoggedError }),
  };
}

function redact(text: string): string {
  return text.replace(EMAIL, '[e-mail]').replace(TOKEN, '[token]');
}

/** The image is built without it. */
function prettyTarget(): string | undefined {
  try {
    return createRequire(__filename).resolve('pino-pretty');
  } catch {
    return undefined;
  }
}
