import { resolve } from 'node:path';
import { Transform } from 'class-transformer';
import { IsIn, IsOptional, IsString, Matches } from 'class-validator';
import { isPrivateKeys } from './private-keys';
import { Checked, isDatabaseUrl, List, Text, Whole, YesOrNo } from './setting-rules';
import { TokenSettings } from './token-settings';

const MINUTE = 60;
const DAY = 24 * 60 * MINUTE;
const MEBIBYTE = 1024 * 1024;
const MILLISECOND = 1_000;

/**
 * Everything that can be set, under the name of its environment variable. All of it is optional; a wrong value stops
 * the start.
 */
export class Settings extends TokenSettings {
  /** Where the service listens. */
  @Whole(0, 65535)
  PORT = 3000;

  /** The address to listen on; when unset all of them, or with demo data or demo accounts the loopback address. */
  @Text()
  HOST?: string;

  /** `production` demands a database, a signing key and TLS or a proxy, and refuses demo data. */
  @IsIn(['development', 'production', 'test'])
  NODE_ENV = 'development';

  /** PostgreSQL 15 or newer; an embedded PostgreSQL under DATA_DIR when unset. */
  @IsOptional()
  @Checked('url', 'a URL such as postgres://user:password@host:5432/database', isDatabaseUrl)
  DATABASE_URL?: string;

  /** Connections for each process. */
  @Whole(2, 1000)
  DATABASE_POOL_SIZE = 10;

  /** The embedded database, the generated signing key and uploads, or with a bucket their parts on the way to it. */
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

  /** A small catalogue, users, posts and orders to explore, once, into an empty database. */
  @IsOptional()
  @YesOrNo()
  DEMO_DATA?: boolean;

  /** Swagger UI and the OpenAPI documents. */
  @YesOrNo()
  API_DOCS = true;

  /** RS256: one or more private keys as PEM. The first signs, all of them verify. */
  @IsOptional()
  @Transform(({ value }: { value: string }) => value.replaceAll('\\n', '\n'))
  @Checked('keys', 'one or more RSA private keys in PEM, each of 2048 bits or more', isPrivateKeys)
  JWT_PRIVATE_KEY?: string;

  /** HS256: a secret of at least 32 bytes, instead of a key. */
  @Text()
  JWT_SECRET?: string;

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
  @Whole(1, DAY * MILLISECOND)
  REQUEST_TIMEOUT = 30_000;

  /** Milliseconds for each statement of jobs, which belong to no request; 0 for any time. */
  @Whole(0, DAY * MILLISECOND)
  JOB_STATEMENT_TIMEOUT = 0;

  /** Bytes. */
  @Whole(1, 100 * MEBIBYTE)
  JSON_BODY_LIMIT = MEBIBYTE;

  @IsIn(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
  LOG_LEVEL = 'info';

  /** Worker processes that share the port. */
  @Whole(1, 256)
  PROCESSES = 1;

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
