import { createRequire } from 'node:module';
import pino, { type DestinationStream, type Logger, type LoggerOptions } from 'pino';
import type PinoPretty from 'pino-pretty';
import type { Settings } from '../config/settings';
import { LogOutput } from './log-output';
import { tellsRequest } from './request-fields';

/** The greatest length of a message, in characters. */
const MAX_LOGGED = 10_000;
/**
 * Doesn't match `node_modules/@scope/...` in a stack. The lookbehind anchors the search at the begin of a name, which
 * keeps it linear.
 */
const EMAIL =
  /(?:"[^"\n]{0,64}"|(?<![^\s"<>()@,;:/\\])[^\s"<>()@,;:/\\]+)@[^\s"'<>()@,;:/\\]*\.\p{L}[^\s"'<>()@,;:/\\]*/gu;
const TOKEN = /(?<![A-Za-z0-9_-])[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]+/g;

/** The value that PostgreSQL quotes in a message such as `invalid input syntax for type integer: "..."`. */
const DATABASE_VALUE = /(: |\bvalue )"[^]*"/g;

interface LoggedError {
  type: string;
  message: string;
  stack?: string;
  code?: string;
  constraint?: string;
  cause?: LoggedError;
}

/** Logs as JSON, or readably in development. */
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

/** Like pino.stdTimeFunctions.isoTime, but lines of the same millisecond share the formatted date. */
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
 * The loggable parts of an error. Errors of TypeORM and the driver contain parameters and rows, and so e-mail addresses
 * and password hashes. Only the properties named here are logged.
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

/** Cuts at a blank: half of an address or of a token wouldn't be recognised and redacted. */
function shortened(text: string): string {
  return text.length > MAX_LOGGED ? `${text.slice(0, Math.max(0, text.lastIndexOf(' ', MAX_LOGGED)))} …` : text;
}

/**
 * Readable output: local time, and each request as a sentence. It is written synchronously in this thread, so that the
 * last line before an exit isn't lost. The image is built without pino-pretty and logs JSON.
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

/** The text of a line: a request is a sentence. Others, such as the event of a 403, may have a method as well. */
export function sentenceOf(line: Record<string, unknown>): string {
  const { msg, context, method, route, version, status, ms } = line as Record<
    string,
    string | number | null | undefined
  >;
  if (msg === 'request' && method !== undefined) {
    const path = version && route ? String(route).replace('/api', `/api/v${version}`) : route;
    // The parser refuses a request that nobody could read, and measures no time.
    const time = ms === undefined ? '' : ` in ${ms} ms`;
    return `${method ?? '?'} ${path ?? '?'} ${status ?? 'not answered'}${time}`;
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
