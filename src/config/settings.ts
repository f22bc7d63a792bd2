import { resolve } from 'node:path';
import { registerAs } from '@nestjs/config';
import { plainToInstance, Transform } from 'class-transformer';
import { IsBoolean, IsIn, IsInt, IsOptional, IsString, IsUrl, Matches, Max, Min, validateSync } from 'class-validator';
import { StartupError } from './startup-error';

const MINUTE = 60;
const DAY = 24 * 60 * MINUTE;
const MEBIBYTE = 1024 * 1024;
const GIBIBYTE = 1024 * MEBIBYTE;
const MAX_TIMER_MILLISECONDS = 2 ** 31 - 1;
const MIN_SECRET_BYTES = 32;

const Text = () => applyAll(IsOptional(), IsString());
const Whole = (min: number, max = Number.MAX_SAFE_INTEGER) =>
  applyAll(
    Transform(({ value }: { value: unknown }) => (/^\d{1,16}$/.test(String(value)) ? Number(value) : value)),
    IsInt({ message: '$property must be a whole number' }),
    Min(min),
    Max(max),
  );
const List = () =>
  Transform(({ value }: { value: unknown }): unknown =>
    Array.isArray(value)
      ? value
      : String(value)
          .split(',')
          .map((item) => item.trim())
          .filter(Boolean),
  );

/**
 * Everything that can be set, under the name of its environment variable. All of it is optional; a wrong value stops
 * the start.
 */
export class Settings {
  /** Where the service listens. */
  @Whole(0, 65535)
  PORT = 3000;

  /** The address to listen on; all of them when unset. */
  @Text()
  HOST?: string;

  /** `production` demands a database, a signing key and TLS or a proxy, and refuses demo data. */
  @IsIn(['development', 'production', 'test'])
  NODE_ENV = 'development';

  /** PostgreSQL 15 or newer; an embedded PostgreSQL under DATA_DIR when unset. */
  @IsOptional()
  @Matches(/^postgres(ql)?:\/\//, { message: '$property must start with postgres:// or postgresql://' })
  DATABASE_URL?: string;

  /** Connections for each process. */
  @Whole(2, 1000)
  DATABASE_POOL_SIZE = 10;

  /** The embedded database and the generated signing key. */
  @Transform(({ value }: { value: string }) => resolve(value))
  @IsString()
  DATA_DIR = resolve('.data');

  /** The first administrator, made at the start when there is none: all three or none. */
  @Text()
  ADMIN_USERNAME?: string;

  @Text()
  ADMIN_EMAIL?: string;

  @Text()
  ADMIN_PASSWORD?: string;

  /** A few users to explore with, once, into an empty database. */
  @IsOptional()
  @Transform(({ value }: { value: unknown }) => ({ true: true, false: false })[String(value)] ?? value)
  @IsBoolean({ message: '$property must be true or false' })
  DEMO_DATA?: boolean;

  /** RS256: one or more private keys as PEM. The first signs, all of them verify. */
  @IsOptional()
  @Transform(({ value }: { value: string }) => value.replaceAll('\\n', '\n'))
  @Matches(/^-----BEGIN (RSA )?PRIVATE KEY-----/, { message: '$property must be a private key in PEM' })
  JWT_PRIVATE_KEY?: string;

  /** HS256: a secret of at least 32 bytes, instead of a key. */
  @Text()
  JWT_SECRET?: string;

  /** The claims `iss` and `aud` that are made and demanded. */
  @IsString()
  JWT_ISSUER = 'resource-api';

  @IsString()
  JWT_AUDIENCE = 'resource-api';

  /** Seconds. */
  @Whole(1, DAY)
  ACCESS_TOKEN_TTL = 15 * MINUTE;

  /** Seconds. */
  @Whole(1, 3650 * DAY)
  REFRESH_TOKEN_TTL = 30 * DAY;

  /** A second, external issuer of access tokens. */
  @IsOptional()
  @IsUrl({ require_tld: false, protocols: ['http', 'https'], require_protocol: true })
  OIDC_ISSUER?: string;

  /** The audience demanded of the external issuer's tokens. */
  @Text()
  OIDC_AUDIENCE?: string;

  /** Origins that a browser may call from. */
  @List()
  @Matches(/^https?:\/\/[^/]+$/, { each: true, message: '$property must be origins such as https://app.example.com' })
  CORS_ORIGINS: string[] = [];

  @List()
  @Matches(/^[A-Z]+$/, { each: true, message: '$property must be methods such as GET,POST' })
  CORS_METHODS: string[] = ['GET', 'POST', 'PUT', 'DELETE'];

  /** Requests to /public for each address in a window, and the window in seconds. */
  @Whole(1)
  PUBLIC_RATE_LIMIT = 60;

  @Whole(1, DAY)
  PUBLIC_RATE_WINDOW = MINUTE;

  /** Failed sign-ins for each account and address in a window, and the window in seconds. */
  @Whole(1)
  LOGIN_RATE_LIMIT = 5;

  @Whole(1, DAY)
  LOGIN_RATE_WINDOW = MINUTE;

  /** How many proxies' `X-Forwarded-*` to believe. */
  @Whole(0, 100)
  TRUST_PROXY = 0;

  /** Shared rate-limit counters; each process counts alone when unset. */
  @IsOptional()
  @Matches(/^rediss?:\/\//, { message: '$property must start with redis:// or rediss://' })
  REDIS_URL?: string;

  /** PEM files of the service's own certificate and key. */
  @Text()
  TLS_CERT?: string;

  @Text()
  TLS_KEY?: string;

  /** Milliseconds. */
  @Whole(1, MAX_TIMER_MILLISECONDS)
  REQUEST_TIMEOUT = 30_000;

  /** Bytes. */
  @Whole(1, 100 * MEBIBYTE)
  JSON_BODY_LIMIT = MEBIBYTE;

  /** Bytes. */
  @Whole(1)
  MAX_UPLOAD_SIZE = 5 * GIBIBYTE;

  @IsIn(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
  LOG_LEVEL = 'info';

  /** Worker processes that share the port. */
  @Whole(1, 256)
  PROCESSES = 1;

  get production(): boolean {
    return this.NODE_ENV === 'production';
  }

  get demoData(): boolean {
    return this.DEMO_DATA ?? (this.NODE_ENV === 'development' && this.DATABASE_URL === undefined);
  }
}

/** Thrown at the start; its message lists everything that is wrong. A rejected value is not repeated: it may be secret. */
export class SettingsError extends StartupError {
  constructor(readonly problems: string[]) {
    super(`These settings are wrong:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
  }
}

/** @throws {SettingsError} */
export function readSettings(environment: Record<string, string | undefined>): Settings {
  // A variable set to nothing, as compose files do, counts as unset.
  const given = Object.entries(environment).filter(([, value]) => value !== undefined && value !== '');
  const settings = plainToInstance(Settings, Object.fromEntries(given), { exposeUnsetFields: false });
  const problems = [
    ...validateSync(settings).flatMap(({ constraints }) => Object.values(constraints ?? {})),
    ...contradictions(settings),
  ];
  if (problems.length > 0) throw new SettingsError(problems);
  return settings;
}

function contradictions(settings: Settings): string[] {
  const { ADMIN_USERNAME, ADMIN_EMAIL, ADMIN_PASSWORD, JWT_PRIVATE_KEY, JWT_SECRET, TLS_CERT, TLS_KEY } = settings;
  const admin = [ADMIN_USERNAME, ADMIN_EMAIL, ADMIN_PASSWORD].filter(Boolean).length;
  const problems: [boolean, string][] = [
    [admin > 0 && admin < 3, 'ADMIN_USERNAME, ADMIN_EMAIL and ADMIN_PASSWORD go together'],
    [Boolean(JWT_PRIVATE_KEY && JWT_SECRET), 'JWT_PRIVATE_KEY and JWT_SECRET exclude each other'],
    [
      JWT_SECRET !== undefined && Buffer.byteLength(JWT_SECRET) < MIN_SECRET_BYTES,
      `JWT_SECRET must have at least ${MIN_SECRET_BYTES} bytes`,
    ],
    [Boolean(TLS_CERT) !== Boolean(TLS_KEY), 'TLS_CERT and TLS_KEY go together'],
    [Boolean(settings.OIDC_ISSUER) !== Boolean(settings.OIDC_AUDIENCE), 'OIDC_ISSUER and OIDC_AUDIENCE go together'],
    [settings.OIDC_ISSUER === settings.JWT_ISSUER, 'OIDC_ISSUER and JWT_ISSUER must differ'],
  ];
  if (settings.production) {
    problems.push(
      [!settings.DATABASE_URL, 'DATABASE_URL must be set in production'],
      [!JWT_PRIVATE_KEY && !JWT_SECRET, 'JWT_PRIVATE_KEY (or JWT_SECRET) must be set in production'],
      [!TLS_CERT && settings.TRUST_PROXY === 0, 'TLS_CERT and TLS_KEY, or TRUST_PROXY, must be set in production'],
      [settings.DEMO_DATA === true, 'DEMO_DATA must not be true in production'],
    );
  }
  return problems.filter(([wrong]) => wrong).map(([, message]) => message);
}

function applyAll(...decorators: PropertyDecorator[]): PropertyDecorator {
  return (target, property) => decorators.forEach((decorate) => decorate(target, property));
}

/** The one place where the environment is read. */
export const environmentSettings = registerAs('settings', () => readSettings(process.env));
