import type { Answer } from '../answers/answer';
import type { Statement } from '../transactions/statement-group';
import { nameOf } from '../transactions/statement-names';
import type { IdempotencyKey } from './idempotency-key.entity';

/** How long an answer is stored. */
export const LIFETIME = "interval '24 hours'";

/** A key that a request claims. */
export interface ClaimedKey {
  id: Buffer;
  fingerprint: Buffer;
  caller: Buffer;
}

/** A stored key and its answer. */
export type StoredKey = Pick<IdempotencyKey, 'fingerprint' | 'status' | 'headers' | 'tag' | 'body'> & {
  expired: boolean;
};

const LOCK = 'SELECT pg_try_advisory_xact_lock($1) AS locked';
const FIND = `SELECT fingerprint, status, headers, tag, body, created_at < now() - ${LIFETIME} AS expired
                FROM idempotency_keys WHERE id = $1`;
const COUNT = `SELECT count(*)::int AS number FROM (SELECT FROM idempotency_keys
                WHERE caller = $1 AND created_at > now() - ${LIFETIME} LIMIT $2) AS recent`;
const FORGET = `DELETE FROM idempotency_keys WHERE id = $1 AND created_at < now() - ${LIFETIME}`;
const STORE = `INSERT INTO idempotency_keys (id, fingerprint, caller, status, headers, tag, body)
               VALUES ($1, $2, $3, $4, $5, $6, $7)`;

const statement = (text: string, values: unknown[]): Statement => ({ name: nameOf(text), text, values });

/** Locks a key until the transaction ends, without waiting. Of what follows, nothing counts without the lock. */
export const lock = (id: Buffer): Statement => statement(LOCK, [id.readBigInt64BE()]);

/** Sees what the last owner of the lock has stored, because it is another statement than {@link lock}. */
export const find = (id: Buffer): Statement => statement(FIND, [id]);

/** The number of a caller's keys, at most the limit. */
export const count = (caller: Buffer, limit: number): Statement => statement(COUNT, [caller, limit]);

/** Deletes an expired key. */
export const forget = (id: Buffer): Statement => statement(FORGET, [id]);

/** Stores a key with its answer. */
export const store = ({ id, fingerprint, caller }: ClaimedKey, { status, headers, tag, text }: Answer): Statement =>
  statement(STORE, [id, fingerprint, caller, status, headers, tag ?? null, text]);
