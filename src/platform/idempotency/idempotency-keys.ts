import { createHash, createHmac } from 'node:crypto';
import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, type EntityManager } from 'typeorm';
import type { IsolationLevel } from 'typeorm/driver/types/IsolationLevel';
import { Settings } from '../config/settings';
import { inOneTransaction, type Sharing } from '../database/api-data-source';
import { ApiError, conflict } from '../errors/api-error';
import { Answer } from '../answers/answer';
import { IdempotencyKey } from './idempotency-key.entity';
import { counter } from '../signals/measure';
import { rateLimited } from '../signals/operations';
import { hours } from '../units';

/** How long an answer is stored. */
const LIFETIME = "interval '24 hours'";
/** The interval between two sweeps of expired rows, in milliseconds. */
const SWEEP_INTERVAL = hours(1);
/** Rows that one statement deletes. It keeps locks and log small, however many rows are expired. */
const SWEEP_SIZE = 5_000;

export interface KeyedRequest {
  /** The key that the caller chose. */
  key: string;
  /** The owner of the key: two callers may choose the same key. */
  scope: string;
  /** The caller, whose number of stored keys is limited: a user, or without an account a network. */
  caller: string;
  /** Everything that two equal requests have in common. */
  content: unknown;
  /** The isolation level of the transaction. Default: PostgreSQL's own */
  isolation?: IsolationLevel;
}

/** Stores the answers to requests with a key, so that each request takes effect once. */
@Injectable()
export class IdempotencyKeys implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(IdempotencyKeys.name);
  private sweep: NodeJS.Timeout;

  constructor(
    @InjectDataSource() private readonly database: DataSource,
    private readonly settings: Settings,
  ) {}

  /**
   * Runs the work, or returns the answer of the first request. The key, the effect and the answer are one transaction:
   * after a crash there are all of them or none. A failure leaves nothing, so a retry runs the work anew.
   * @throws {ApiError} CONFLICT while the first request is in progress, IDEMPOTENCY_KEY_REUSED for a different request,
   *   TOO_MANY_REQUESTS when the caller has too many stored keys
   */
  once(request: KeyedRequest, work: () => Promise<Answer>): Promise<Answer> {
    const id = createHash('sha256')
      .update(JSON.stringify([request.scope, request.key]))
      .digest();
    const fingerprint = fingerprintOf(request);
    const caller = createHash('sha256').update(request.caller).digest();
    const claimed = async (manager: EntityManager, sharing: Sharing) => {
      await lock(manager, id);
      if (!(await claim(manager, { id, fingerprint, caller }, this.settings.IDEMPOTENCY_KEY_LIMIT))) {
        return replay(manager, id, fingerprint);
      }
      const answer = await sharing(work);
      const { status, headers, text: body, tag = null } = answer;
      await manager.update(IdempotencyKey, { id }, { status, headers, body, tag });
      return answer;
    };
    return inOneTransaction(this.database, claimed, request.isolation);
  }

  /** Deletes expired rows. */
  async removeExpired(): Promise<void> {
    const expired = `SELECT id FROM idempotency_keys WHERE created_at < now() - ${LIFETIME} LIMIT ${SWEEP_SIZE}`;
    for (let removed = SWEEP_SIZE; removed === SWEEP_SIZE;) {
      const text = `DELETE FROM idempotency_keys WHERE id IN (${expired} FOR UPDATE SKIP LOCKED)`;
      [, removed] = await this.database.query<[unknown, number]>(text);
    }
  }

  onApplicationBootstrap(): void {
    const onFailure = (error: unknown) => this.logger.warn({ err: error }, 'Old idempotency keys were not removed');
    this.sweep = setInterval(() => void this.removeExpired().catch(onFailure), SWEEP_INTERVAL).unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.sweep);
  }
}

/**
 * An HMAC under the key, which only the caller knows: a reader of the table can't test passwords against it. It is equal
 * for equal JSON values, whatever the order of their attributes (D-241).
 */
function fingerprintOf({ key, content }: KeyedRequest): Buffer {
  return createHmac('sha256', key).update(JSON.stringify(content, inOrder)).digest();
}

/** Sorts the attributes of an object. The limit of a body's values bounds their number. */
function inOrder(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const attributes = value as Record<string, unknown>;
  return Object.fromEntries(
    Object.keys(attributes)
      .sort()
      .map((name) => [name, attributes[name]]),
  );
}

/** Locks the key until the transaction ends. Doesn't wait for a lock: a concurrent request is answered at once. */
async function lock(manager: EntityManager, id: Buffer): Promise<void> {
  const text = 'SELECT pg_try_advisory_xact_lock($1) AS locked';
  const [{ locked }] = await manager.query<{ locked: boolean }[]>(text, [id.readBigInt64BE()]);
  if (!locked) throw inProgress();
}

/**
 * Inserts the key, or renews an expired one. Returns false if the key is stored already, or the caller is at its limit.
 * Concurrent requests don't see each other's keys, so the limit may be exceeded by the number of connections.
 */
async function claim(
  manager: EntityManager,
  { id, fingerprint, caller }: Pick<IdempotencyKey, 'id' | 'fingerprint' | 'caller'>,
  limit: number,
): Promise<boolean> {
  const rows = await manager.query<unknown[]>(
    `INSERT INTO idempotency_keys AS known (id, fingerprint, caller) SELECT $1, $2, $3
      WHERE NOT EXISTS (SELECT FROM idempotency_keys
                         WHERE caller = $3 AND created_at > now() - ${LIFETIME} OFFSET $4::bigint - 1 LIMIT 1)
     ON CONFLICT (id) DO UPDATE SET fingerprint = $2, created_at = now() WHERE known.created_at < now() - ${LIFETIME}
     RETURNING id`,
    [id, fingerprint, caller, limit],
  );
  return rows.length > 0;
}

const replays = counter('api_idempotent_replays_total', 'Repeated POSTs that got their first answer.');

async function replay(manager: EntityManager, id: Buffer, fingerprint: Buffer): Promise<Answer> {
  const [known] = await manager.query<IdempotencyKey[]>(
    `SELECT * FROM idempotency_keys WHERE id = $1 AND created_at >= now() - ${LIFETIME}`,
    [id],
  );
  if (!known) {
    rateLimited.add({ limit: 'idempotency keys' });
    throw tooManyKeys();
  }
  if (!known.fingerprint.equals(fingerprint)) throw keyReused();
  replays.add({});
  const headers = { ...known.headers, 'Idempotent-Replayed': 'true' };
  return new Answer(known.status!, headers, known.body!, known.tag ?? undefined);
}

/** 409 for a request whose first attempt still runs. */
export const inProgress = (): ApiError =>
  conflict([{ field: 'Idempotency-Key', rule: 'key', message: 'a request with this key is in progress' }], {
    headers: { 'Retry-After': '1' },
  });

/** 422 for a key that was used with a different request. */
export const keyReused = (): ApiError => new ApiError('IDEMPOTENCY_KEY_REUSED');

/** 429 for a caller with too many stored keys. They expire within a day. */
export const tooManyKeys = (): ApiError =>
  new ApiError('TOO_MANY_REQUESTS', {
    message: 'Too many idempotency keys within 24 hours, try again later',
    headers: { 'Retry-After': '3600' },
  });
