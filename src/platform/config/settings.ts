import { resolve } from 'node:path';
import { Transform } from 'class-transformer';
import { IsIn, IsOptional, IsString, Matches } from 'class-validator';
import { isPrivateKeys } from './private-keys';
import { CheckedSetting, isDatabaseUrl, ListSetting, TextSetting, WholeSetting, YesOrNoSetting } from './setting-rules';
import { TokenSettings } from './token-settings';
import { days, mebibytes, SECONDS_PER_DAY, seconds } from '../units';

/**
 * The settings, named as their environment variables. declareSettings() adds more. All are optional. A wrong value
 * stops the start.
 */
export class Settings extends TokenSettings {
  /** The port to listen on. */
  @WholeSetting(0, 65535)
  PORT = 3000;

  /**
   * The address to listen on. When unset: all addresses, or the loopback address if there are demo data or demo
   * accounts.
   */
  @TextSetting()
  HOST?: string;

  /** `production` requires a database, a signing key, and TLS or a proxy. It refuses demo data. */
  @IsIn(['development', 'production', 'test'])
  NODE_ENV = 'development';

  /** PostgreSQL 15 or newer. When unset, an embedded PostgreSQL under DATA_DIR is started. */
  @IsOptional()
  @CheckedSetting('url', 'a URL such as postgres://user:password@host:5432/database', isDatabaseUrl)
  DATABASE_URL?: string;

  /** `transaction` if DATABASE_URL is that of PgBouncer or another pooler. It suits poolers in any mode. */
  @IsIn(['none', 'transaction'])
  DATABASE_POOLER = 'none';

  /** Connections of each process. */
  @WholeSetting(2, 1000)
  DATABASE_POOL_SIZE = 15;

  /** A standby that follows the primary of DATABASE_URL by streaming, and answers reads. When unset, the primary does. */
  @IsOptional()
  @CheckedSetting('url', 'a URL such as postgres://user:password@host:5432/database', isDatabaseUrl)
  DATABASE_REPLICA_URL?: string;

  /** Connections of each process to the replica. */
  @WholeSetting(1, 1000)
  DATABASE_REPLICA_POOL_SIZE = 15;

  /** How many seconds the replica may be behind the primary before it is left out. */
  @WholeSetting(1, SECONDS_PER_DAY)
  DATABASE_REPLICA_MAX_LAG = 10;

  /**
   * The directory of the embedded database, the generated signing key, and uploads (with a bucket: their parts until
   * they are sent to it).
   */
  @Transform(({ value }: { value: string }) => resolve(value))
  @IsString()
  DATA_DIR = resolve('.data');

  /** Inserts products, users, posts and orders to explore, once, into an empty database. */
  @IsOptional()
  @YesOrNoSetting()
  DEMO_DATA?: boolean;

  /** Serves Swagger UI and the OpenAPI documents. */
  @YesOrNoSetting()
  API_DOCS = true;

  /** RS256: one or more private keys in PEM. The first one signs, all of them verify. */
  @IsOptional()
  @Transform(({ value }: { value: string }) => value.replaceAll('\\n', '\n'))
  @CheckedSetting('keys', 'one or more RSA private keys in PEM, each of 2048 bits or more', isPrivateKeys)
  JWT_PRIVATE_KEY?: string;

  /** HS256: a secret of at least 32 bytes, instead of private keys. */
  @TextSetting()
  JWT_SECRET?: string;

  /** The origins from which browsers may call the service. */
  @ListSetting()
  @Matches(/^https?:\/\/[^/]+$/, { each: true, message: '$property must be origins such as https://app.example.com' })
  CORS_ORIGINS: string[] = [];

  @ListSetting()
  @Matches(/^[A-Z]+$/, { each: true, message: '$property must be methods such as GET,POST' })
  CORS_METHODS: string[] = ['GET', 'POST', 'PUT', 'DELETE'];

  /** The number of proxies whose `X-Forwarded-*` headers are trusted. */
  @WholeSetting(0, 100)
  TRUST_PROXY = 0;

  /** The Redis server that counts for rate limits. When unset, each instance counts by itself. */
  @IsOptional()
  @Matches(/^rediss?:\/\//, { message: '$property must start with redis:// or rediss://' })
  REDIS_URL?: string;

  /** The PEM file of the certificate; TLS_KEY is the file of its key. */
  @TextSetting()
  TLS_CERT?: string;

  @TextSetting()
  TLS_KEY?: string;

  /** The time limit of a request in milliseconds. */
  @WholeSetting(1, days(1))
  REQUEST_TIMEOUT = seconds(30);

  /** The time limit of each statement of a job in milliseconds; 0 for none. Jobs belong to no request. */
  @WholeSetting(0, days(1))
  JOB_STATEMENT_TIMEOUT = 0;

  /** The greatest size of a JSON body in bytes. */
  @WholeSetting(1, mebibytes(100))
  JSON_BODY_LIMIT = mebibytes(1);

  @IsIn(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
  LOG_LEVEL = 'info';

  /** The number of worker processes that share the port. */
  @WholeSetting(1, 256)
  PROCESSES = 1;

  /** The port of the metrics for Prometheus; 0 for any free one. When unset, nothing is measured. */
  @IsOptional()
  @WholeSetting(0, 65535)
  METRICS_PORT?: number;

  /** The address of METRICS_PORT. Metrics are for those who run the service, so other machines need this setting. */
  @IsString()
  METRICS_HOST = '127.0.0.1';

  /** Where traces are sent to by OTLP. When unset, nothing is traced. OpenTelemetry reads its other variables by itself. */
  @IsOptional()
  @Matches(/^https?:\/\//, { message: '$property must start with http:// or https://' })
  OTEL_EXPORTER_OTLP_ENDPOINT?: string;

  /** The number of idempotency keys that are stored for a user, or for a network if the caller has no account. */
  @WholeSetting(1)
  IDEMPOTENCY_KEY_LIMIT = 10_000;

  /**
   * The bytes that a user may write in a window of WRITE_WINDOW seconds, and 1 KiB for each write; 0 for no limit. The
   * users of an address may write four times as much together, those of a neighbourhood sixteen times.
   */
  @WholeSetting(0)
  WRITE_QUOTA = mebibytes(32);

  @WholeSetting(1, SECONDS_PER_DAY)
  WRITE_WINDOW = SECONDS_PER_DAY;

  get production(): boolean {
    return this.NODE_ENV === 'production';
  }

  get demoData(): boolean {
    return this.DEMO_DATA ?? (!this.production && this.DATABASE_URL === undefined);
  }

  /**
   * The address to listen on; undefined for all addresses. The password of demo accounts is public, so they are served
   * on this machine only.
   * @param isOpen true if that password opens an account, e.g. of data that an earlier start has inserted
   */
  listenAddress(isOpen = false): string | undefined {
    return this.HOST ?? (this.demoData || isOpen ? '127.0.0.1' : undefined);
  }
}
