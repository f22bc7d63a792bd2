import type { QueryResultRow } from 'pg';
import type { EntityManager, ObjectLiteral } from 'typeorm';
import { auditContext } from '../transactions/audit-context';
import { type CancellablePool, poolOf } from '../transactions/cancellable-pool';
import { UnitOfWork } from '../transactions/unit-of-work';
import { kibibytes } from '../units';
import { type BatchedRow, BatchedStatement } from './batched-statement';
import type { GivenColumn, PlainEntity } from './plain-entity';
import { isBound } from './statement';
import { ALONE, type Asked, type Outcome, WriteBatch } from './write-batch';

/** The characters of a row that is written in a batch: long texts take the event loop longer than a statement costs. */
const MAX_LENGTH = kibibytes(8);
/** The number of combinations of columns of an entity that are written in batches. */
const MAX_KINDS = 64;

/** What one request writes to one row. */
export interface RowWrite extends Pick<BatchedRow, 'target'> {
  given: GivenColumn[];
}

/**
 * Writes a row together with those that other requests write to the same columns at this moment, in one statement, which
 * costs little more than one row. If the statement fails, whichever row is the reason, nothing of it is left, and each
 * request writes its row alone. In a transaction, or without others, a row is written alone at once.
 * @param alone writes the row with a statement of its own
 * @returns the row; undefined if there is none, or it has another version
 */
export async function writeTogether<R extends QueryResultRow>(
  manager: EntityManager,
  plain: PlainEntity<ObjectLiteral>,
  { given, target }: RowWrite,
  alone: () => Promise<R | undefined>,
): Promise<R | undefined> {
  const unit = UnitOfWork.current();
  const writer = unit?.writer;
  // A caller without an account, or with more time than others, writes alone.
  if (!writer || unit.statementLimit !== undefined || isBound(manager)) return alone();
  const values = given.map(({ value }) => value);
  if (!mayBeShared(values)) return alone();
  const batches = batchesOf(poolOf(manager.dataSource), plain);
  const asked = { values, target, writer, context: auditContext()!, unit };
  const outcome = await batches.write(asked, namesOf(given));
  return outcome === ALONE ? batches.whileBusy(target?.id, alone) : (outcome as R | undefined);
}

/** False for long texts, and for values that may fail to be sent: the rows of others would fail with them. */
function mayBeShared(values: unknown[]): boolean {
  let length = 0;
  for (const value of values) {
    if (typeof value === 'string') length += value.length;
    else if (typeof value === 'object' && value !== null) return false;
  }
  return length <= MAX_LENGTH;
}

const namesOf = (given: GivenColumn[]): string[] => given.map(({ name }) => name);

const batchesOfEntities = new WeakMap<PlainEntity<ObjectLiteral>, EntityBatches>();

function batchesOf(pool: CancellablePool, plain: PlainEntity<ObjectLiteral>): EntityBatches {
  let batches = batchesOfEntities.get(plain);
  if (!batches) batchesOfEntities.set(plain, (batches = new EntityBatches(pool, plain)));
  return batches;
}

/** The rows of an entity that requests write at this moment. */
class EntityBatches {
  private readonly batches = new Map<string, WriteBatch | undefined>();
  /** The ids of rows that are being changed. Another change of such a row waits for its lock, and would keep a batch waiting. */
  private readonly busy = new Set<number>();

  constructor(
    private readonly pool: CancellablePool,
    private readonly plain: PlainEntity<ObjectLiteral>,
  ) {}

  async write(asked: Asked, names: string[]): Promise<Outcome> {
    const id = asked.target?.id;
    const batch = this.batchOf(names, id !== undefined);
    if (!batch?.isOpen || (id !== undefined && this.busy.has(id))) return ALONE;
    return this.whileBusy(id, () => batch.join(asked));
  }

  /** Changes a row, which no batch contains meanwhile. */
  async whileBusy<T>(id: number | undefined, write: () => Promise<T>): Promise<T> {
    if (id === undefined || this.busy.has(id)) return write();
    this.busy.add(id);
    try {
      return await write();
    } finally {
      this.busy.delete(id);
    }
  }

  /** Undefined for columns that can't be written in batches. */
  private batchOf(names: string[], isUpdate: boolean): WriteBatch | undefined {
    const key = `${isUpdate ? 'UPDATE' : 'INSERT'} ${names.join()}`;
    const known = this.batches.get(key);
    if (known || this.batches.has(key)) return known;
    if (this.batches.size >= MAX_KINDS) this.forgetOne();
    const statement = BatchedStatement.of(this.plain, names, isUpdate);
    const batch = statement && new WriteBatch(this.pool, statement);
    this.batches.set(key, batch);
    return batch;
  }

  /** The oldest that is idle: a caller who changes every combination of attributes must not end the batches of others. */
  private forgetOne(): void {
    for (const [key, batch] of this.batches) {
      if (!batch || batch.isIdle) return void this.batches.delete(key);
    }
  }
}
