import { createHash, createHmac } from 'node:crypto';
import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, type EntityManager } from 'typeorm';
import type { IsolationLevel } from 'typeorm/driver/types/IsolationLevel';
import { Settings } from '../config/settings';
import { inOneTransaction, type Sharing } from '../database/api-data-source';
import { ApiError } from '../errors/api-error';
import { Answer } from '../answers/answer';
import { IdempotencyKey } from './idempotency-key.entity';

/** How long an answer is kept. */
const LIFETIME = "interval '24 hours'";
/** How often what is older is removed, in milliseconds. */
const SWEEP_INTERVAL = 60 * 60 * 1_000;
/** Rows that one statement removes: locks and log stay small, however many there are. */
const SWEEP_SIZE = 5_000;

export interface KeyedRequest {
  /** As the caller chose it. */
  key: string;
  /** Whose key it is: two callers may choose the same one. */
  scope: string;
  /** Who brings it, for whom so many keys are kept: a user, or without an account a network. */
  caller: string;
  /** Everything that makes two requests the same. */
  content: unknown;
  /** Of the transaction. Default: PostgreSQL's own */
  isolation?: IsolationLevel;
}

/** Remembers what came of requests with a key, so that each has its effect once. */
@Injectable()
export class IdempotencyKeys implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(IdempotencyKeys.name);
  private sweep: NodeJS.Timeout;

  constructor(
    @InjectDataSource() private readonly database: DataSource,
    private readonly settings: Settings,
  ) {}

  /**
   * Does the work, or answers what it answered the first time. The key, the effect and the answer are one transaction:
   * after a crash at any moment there are all of them or none. What fails leaves no trace, so its repetition is tried anew.
   * @throws {ApiError} CONFLICT while the first request is in progress, IDEMPOTENCY_KEY_REUSED for another request,
   *   TOO_MANY_REQUESTS for one key more than are kept for a caller
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

  /** Removes what is too old to be asked for. */
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

/** Keyed by what only the caller has, so that nobody who reads the table can try passwords on it. */
function fingerprintOf({ key, content }: KeyedRequest): Buffer {
  return createHmac('sha256', key).update(JSON.stringify(content)).digest();
}

/** Until the transaction ends, however it ends. Not by waiting for the row: the second caller is to learn at once. */
async function lock(manager: EntityManager, id: Buffer): Promise<void> {
  const text = 'SELECT pg_try_advisory_xact_lock($1) AS locked';
  const [{ locked }] = await manager.query<{ locked: boolean }[]>(text, [id.readBigInt64BE()]);
  if (!locked) throw inProgress();
}

/**
 * Whether the key is new, or so old that it counts as new. Not if it would be one too many for its caller; requests at the
 * same moment don't see each other's keys, so there may be as many more as there are connections.
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

async function replay(manager: EntityManager, id: Buffer, fingerprint: Buffer): Promise<Answer> {
  const [known] = await manager.query<IdempotencyKey[]>(
    `SELECT * FROM idempotency_keys WHERE id = $1 AND created_at >= now() - ${LIFETIME}`,
    [id],
  );
  if (!known) throw tooManyKeys();
  if (!known.fingerprint.equals(fingerprint)) throw keyReused();
  const headers = { ...known.headers, 'Idempotent-Replayed': 'true' };
  return new Answer(known.status!, headers, known.body!, known.tag ?? undefined);
}

/** 409 for a request whose first attempt isn't over. */
export const inProgress = (): ApiError =>
  new ApiError('CONFLICT', {
    details: 'Idempotency-Key: a request with this key is in progress',
    headers: { 'Retry-After': '1' },
  });

/** 422 for a key that came with another request before. */
export const keyReused = (): ApiError => new ApiError('IDEMPOTENCY_KEY_REUSED');

/** 429 for a key more than are kept for one caller; the oldest of them is forgotten within a day. */
export const tooManyKeys = (): ApiError =>
  new ApiError('TOO_MANY_REQUESTS', {
    message: 'Too many idempotency keys within 24 hours, try again later',
    headers: { 'Retry-After': '3600' },
  });
