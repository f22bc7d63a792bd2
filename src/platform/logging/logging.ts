import { createRequire } from 'node:module';
import pino, { type DestinationStream, type Logger, type LoggerOptions } from 'pino';
import type PinoPretty from 'pino-pretty';
import type { Settings } from '../config/settings';
import { LogOutput } from './log-output';
import { tellsRequest } from './request-fields';

/** Longer than any message that is worth reading. */
const MAX_LOGGED = 10_000;
/** Not the `node_modules/@scope/...` of a stack. A name is looked for where one begins only, so that a text is read once. */
const EMAIL =
  /(?:"[^"\n]{0,64}"|(?<![^\s"<>()@,;:/\\])[^\s"<>()@,;:/\\]+)@[^\s"'<>()@,;:/\\]*\.\p{L}[^\s"'<>()@,;:/\\]*/gu;
const TOKEN = /(?<![A-Za-z0-9_-])[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]+/g;

/** How PostgreSQL repeats a value that it can't take: `invalid input syntax for type integer: "..."`. */
const DATABASE_VALUE = /(: |\bvalue )"[^]*"/g;

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
    timestamp: isoTime(),
    formatters: { level: (label) => ({ level: label }) },
    serializers: { err: describeError },
    ...tellsRequest,
  };
  const readable = settings.NODE_ENV === 'development' ? readableLines() : undefined;
  return pino(options, readable ?? new LogOutput());
}

/** pino.stdTimeFunctions.isoTime, which formats a date for each line: lines of one millisecond share it. */
function isoTime(): () => string {
  let time = 0;
  let text = '';
  return () => {
    const now = Date.now();
    if (now !== time) text = `,"time":"${new Date(now).toISOString()}"`;
    time = now;
    return text;
  };
}

/**
 * What may be logged of an error. Errors of TypeORM and of the driver carry the statement's parameters and the row, and
 * with them e-mail addresses and password hashes; only what is named here goes out.
 */
export function describeError(error: unknown): LoggedError | string {
  if (!(error instanceof Error)) return redact(String(error));
  const { code, constraint } = error as { code?: unknown; constraint?: unknown };
  const message = redact(isSqlState(code) ? error.message.replace(DATABASE_VALUE, '$1[value]') : error.message);
  return {
    type: error.constructor.name,
    message,
    stack: error.stack && redact(error.stack.replace(error.message, () => message)),
    ...(typeof code === 'string' && { code }),
    ...(typeof constraint === 'string' && { constraint }),
    ...(error.cause instanceof Error && { cause: describeError(error.cause) as LoggedError }),
  };
}

function isSqlState(code: unknown): boolean {
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code);
}

function redact(text: string): string {
  return shortened(text).replace(EMAIL, '[e-mail]').replace(TOKEN, '[token]');
}

/** Up to a blank, as half of an address or of a token would not be recognised. */
function shortened(text: string): string {
  return text.length > MAX_LOGGED ? `${text.slice(0, Math.max(0, text.lastIndexOf(' ', MAX_LOGGED)))} …` : text;
}

/**
 * For a person: local time, and a request as a sentence. In this thread and at once, so that the last line before an exit
 * is not lost. The image is built without pino-pretty, and gets JSON.
 */
function readableLines(): DestinationStream | undefined {
  const pretty = loadPretty();
  return pretty?.({
    sync: true,
    singleLine: true,
    translateTime: 'SYS:HH:MM:ss.l',
    ignore: 'pid,port,context,method,route,version,status,ms,address',
    messageFormat: sentenceOf,
  });
}

function sentenceOf(line: Record<string, unknown>): string {
  const { msg, context, method, route, version, status, ms } = line as Record<
    string,
    string | number | null | undefined
  >;
  if (method !== undefined) {
    const path = version && route ? String(route).replace('/api', `/api/v${version}`) : route;
    return `${method} ${path ?? '?'} ${status ?? 'not answered'} in ${ms} ms`;
  }
  return context ? `[${context}] ${msg}` : String(msg);
}

function loadPretty(): typeof PinoPretty | undefined {
  try {
    return createRequire(__filename)('pino-pretty') as typeof PinoPretty;
  } catch {
    return undefined;
  }
}
