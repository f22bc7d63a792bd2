import { resolve } from 'node:path';
import { Transform } from 'class-transformer';
import { IsIn, IsOptional, IsString, Matches } from 'class-validator';
import { isPrivateKeys } from './private-keys';
import { CheckedSetting, isDatabaseUrl, ListSetting, TextSetting, WholeSetting, YesOrNoSetting } from './setting-rules';
import { TokenSettings } from './token-settings';

const DAY = 24 * 60 * 60;
const MEBIBYTE = 1024 * 1024;
const MILLISECOND = 1_000;

/**
 * What can be set, under the name of its environment variable; declareSettings() adds to it. All of it is optional; a wrong
 * value stops the start.
 */
export class Settings extends TokenSettings {
  /** Where the service listens. */
  @WholeSetting(0, 65535)
  PORT = 3000;

  /** The address to listen on; when unset all of them, or with demo data or demo accounts the loopback address. */
  @TextSetting()
  HOST?: string;

  /** `production` demands a database, a signing key and TLS or a proxy, and refuses demo data. */
  @IsIn(['development', 'production', 'test'])
  NODE_ENV = 'development';

  /** PostgreSQL 15 or newer; an embedded PostgreSQL under DATA_DIR when unset. */
  @IsOptional()
  @CheckedSetting('url', 'a URL such as postgres://user:password@host:5432/database', isDatabaseUrl)
  DATABASE_URL?: string;

  /** Connections for each process. */
  @WholeSetting(2, 1000)
  DATABASE_POOL_SIZE = 10;

  /** The embedded database, the generated signing key and uploads, or with a bucket their parts on the way to it. */
  @Transform(({ value }: { value: string }) => resolve(value))
  @IsString()
  DATA_DIR = resolve('.data');

  /** A small catalogue, users, posts and orders to explore, once, into an empty database. */
  @IsOptional()
  @YesOrNoSetting()
  DEMO_DATA?: boolean;

  /** Swagger UI and the OpenAPI documents. */
  @YesOrNoSetting()
  API_DOCS = true;

  /** RS256: one or more private keys as PEM. The first signs, all of them verify. */
  @IsOptional()
  @Transform(({ value }: { value: string }) => value.replaceAll('\\n', '\n'))
  @CheckedSetting('keys', 'one or more RSA private keys in PEM, each of 2048 bits or more', isPrivateKeys)
  JWT_PRIVATE_KEY?: string;

  /** HS256: a secret of at least 32 bytes, instead of a key. */
  @TextSetting()
  JWT_SECRET?: string;

  /** Origins that a browser may call from. */
  @ListSetting()
  @Matches(/^https?:\/\/[^/]+$/, { each: true, message: '$property must be origins such as https://app.example.com' })
  CORS_ORIGINS: string[] = [];

  @ListSetting()
  @Matches(/^[A-Z]+$/, { each: true, message: '$property must be methods such as GET,POST' })
  CORS_METHODS: string[] = ['GET', 'POST', 'PUT', 'DELETE'];

  /** How many proxies' `X-Forwarded-*` to believe. */
  @WholeSetting(0, 100)
  TRUST_PROXY = 0;

  /** Shared rate-limit counters; each process counts alone when unset. */
  @IsOptional()
  @Matches(/^rediss?:\/\//, { message: '$property must start with redis:// or rediss://' })
  REDIS_URL?: string;

  /** PEM files of the service's own certificate and key. */
  @TextSetting()
  TLS_CERT?: string;

  @TextSetting()
  TLS_KEY?: string;

  /** Milliseconds. */
  @WholeSetting(1, DAY * MILLISECOND)
  REQUEST_TIMEOUT = 30_000;

  /** Milliseconds for each statement of jobs, which belong to no request; 0 for any time. */
  @WholeSetting(0, DAY * MILLISECOND)
  JOB_STATEMENT_TIMEOUT = 0;

  /** Bytes. */
  @WholeSetting(1, 100 * MEBIBYTE)
  JSON_BODY_LIMIT = MEBIBYTE;

  @IsIn(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
  LOG_LEVEL = 'info';

  /** Worker processes that share the port. */
  @WholeSetting(1, 256)
  PROCESSES = 1;

  /** Idempotency keys of a user, or without an account of a network, that are remembered at a time. */
  @WholeSetting(1)
  IDEMPOTENCY_KEY_LIMIT = 10_000;

  get production(): boolean {
    return this.NODE_ENV === 'production';
  }

  get demoData(): boolean {
    return this.DEMO_DATA ?? (!this.production && this.DATABASE_URL === undefined);
  }

  /**
   * Where to listen; undefined for all addresses. The password of demo data is public: they are for this machine alone.
   * @param isOpen whether that password opens an account, of data that an earlier start has left, say
   */
  listenAddress(isOpen = false): string | undefined {
    return this.HOST ?? (this.demoData || isOpen ? '127.0.0.1' : undefined);
  }
}
