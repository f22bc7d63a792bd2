import { createHash, createHmac } from 'node:crypto';
import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import type { PoolClient } from 'pg';
import { DataSource, QueryFailedError } from 'typeorm';
import type { IsolationLevel } from 'typeorm/driver/types/IsolationLevel';
import { Settings } from '../config/settings';
import { inOneTransaction, type Sharing } from '../database/api-data-source';
import { ApiError, conflict } from '../errors/api-error';
import { Answer } from '../answers/answer';
import { counter } from '../signals/measure';
import { rateLimited } from '../signals/operations';
import { sendAhead, sendTogether } from '../transactions/observed-commits';
import { hours } from '../units';
import { KeyCounts } from './key-counts';
import { type ClaimedKey, count, find, forget, LIFETIME, lock, store, type StoredKey } from './key-statements';

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
  private readonly counts: KeyCounts;
  private sweep: NodeJS.Timeout;

  constructor(
    @InjectDataSource() private readonly database: DataSource,
    private readonly settings: Settings,
  ) {
    this.counts = new KeyCounts(settings.IDEMPOTENCY_KEY_LIMIT);
  }

  /**
   * Runs the work, or returns the answer of the first request. The key, the effect and the answer are one transaction:
   * after a crash there are all of them or none. A failure leaves nothing, so a retry runs the work anew. The lock on the
   * key decides which request runs the work, so the key is stored at the end, together with its answer.
   * @throws {ApiError} CONFLICT while the first request is in progress, IDEMPOTENCY_KEY_REUSED for a different request,
   *   TOO_MANY_REQUESTS when the caller has too many stored keys
   */
  async once(request: KeyedRequest, work: () => Promise<Answer>): Promise<Answer> {
    const key = keyOf(request);
    const claimed = async (client: PoolClient, sharing: Sharing) => {
      const first = await this.claim(client, key, request.caller);
      if (first) return replay(first, key.fingerprint);
      const answer = await sharing(work);
      sendAhead(client, store(key, answer));
      return answer;
    };
    try {
      return await inOneTransaction(this.database, claimed, request.isolation);
    } catch (error) {
      throw isStoredMeanwhile(error) ? inProgress() : error;
    }
  }

  /**
   * Locks the key for a new request, or finds the first one. Doesn't wait for the lock: a concurrent request is answered
   * at once. Concurrent requests don't see each other's keys, so the limit may be exceeded by the number of connections.
   */
  private async claim(client: PoolClient, key: ClaimedKey, caller: string): Promise<StoredKey | undefined> {
    const { id } = key;
    const counting = this.counts.mustCount(caller) ? [count(key.caller, this.settings.IDEMPOTENCY_KEY_LIMIT)] : [];
    const results = await sendTogether(client, [lock(id), find(id), ...counting]);
    const [[{ locked }], [known], counts] = results.map(({ rows }) => rows as unknown) as [
      { locked: boolean }[],
      StoredKey[],
      { number: number }[]?,
    ];
    if (!locked) throw inProgress();
    if (known && !known.expired) return known;
    if (counts && !this.counts.allows(caller, counts[0].number)) throw tooMany();
    if (known) sendAhead(client, forget(id));
    return undefined;
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

function keyOf(request: KeyedRequest): ClaimedKey {
  const { scope, key, caller } = request;
  return {
    id: createHash('sha256')
      .update(JSON.stringify([scope, key]))
      .digest(),
    fingerprint: fingerprintOf(request),
    caller: createHash('sha256').update(caller).digest(),
  };
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

const replays = counter('api_idempotent_replays_total', 'Repeated POSTs that got their first answer.');

function replay(known: StoredKey, fingerprint: Buffer): Answer {
  if (!known.fingerprint.equals(fingerprint)) throw keyReused();
  replays.add({});
  const headers = { ...known.headers, 'Idempotent-Replayed': 'true' };
  return new Answer(known.status!, headers, known.body!, known.tag ?? undefined);
}

function tooMany(): ApiError {
  rateLimited.add({ limit: 'idempotency keys' });
  return tooManyKeys();
}

/** True for a key that was stored after the snapshot of a transaction whose isolation level has only one. */
function isStoredMeanwhile(error: unknown): boolean {
  if (!(error instanceof QueryFailedError)) return false;
  return (error.driverError as { constraint?: string }).constraint === 'idempotency_keys_pkey';
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
