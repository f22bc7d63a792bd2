import type { ObjectLiteral, SelectQueryBuilder } from 'typeorm';
import { queueKeysOf } from '../limits/client-network';
import { LoopTurns } from '../limits/loop-turns';
import { Semaphore } from '../limits/semaphore';
import type { UnitOfWork } from '../transactions/unit-of-work';
import type { IncludedRows } from './included-rows';
import { type HeavyRows, ROW } from './row-sizes';

/** Characters of included rows from which on they aren't made in one go. */
const LARGE = 256 * 1024;
/** Lists whose included rows may wait to be made; of more, those of the network that has most are 503. */
const MAX_WAITING = 32;

/** One list after the other: the lists of one turn of the event loop would keep everybody else waiting together. */
const making = new Semaphore(1, MAX_WAITING);

/** The rows of a list, and what belongs to them and isn't made yet. */
export interface FoundRows<E> {
  entities: E[];
  included: IncludedTexts[];
  /** What was found and not read. */
  heavy?: HeavyRows;
  /** The number of all rows that match, of a slice that counts them, and Infinity if they are many; see `few-found.ts`. */
  total?: number;
  /** True if the rows are not those that were asked for any more. */
  changed?: boolean;
}

/** The included rows of one relation, for each row of a list. */
interface IncludedTexts {
  relation: string;
  rows: IncludedRows;
  /** By the id of the row. */
  texts: Map<string, string | null>;
}

/** What a statement is asked for, by the names that its result has. */
const ID = 'included_id';
const nameOf = (index: number) => `included_${index}`;

/** What a list includes. */
export type Included = [relation: string, rows: IncludedRows, sort: string][];

export function selectIncluded<E extends ObjectLiteral>(rows: SelectQueryBuilder<E>, included: Included): void {
  if (included.length > 0) rows.addSelect(`CAST("${ROW}"."id" AS text)`, ID);
  included.forEach(([, other, sort], index) => rows.addSelect(other.text(`"${ROW}"."id"`, sort), nameOf(index)));
}

/** @param raw the result of the statement; with a join it has several rows for one, all alike */
export function textsOf(raw: Record<string, string | null>[], included: Included): IncludedTexts[] {
  return included.map(([relation, rows], index) => {
    const texts = new Map(raw.map((row) => [row[ID]!, row[nameOf(index)]]));
    return { relation, rows, texts };
  });
}

/** Makes what belongs to the rows. Holds no connection: large ones wait for each other. */
export async function wholeRows<E extends ObjectLiteral>(
  { entities, included }: FoundRows<E>,
  work: UnitOfWork,
): Promise<E[]> {
  if (included.length === 0) return entities;
  const whole = (entity: E) => {
    for (const { relation, rows, texts } of included) {
      Object.assign(entity, { [relation]: rows.parse(texts.get(String(entity.id))!) });
    }
  };
  if (charactersOf(included) <= LARGE) entities.forEach(whole);
  else
    await making.run((waited) => makeInTurns(entities, whole, work, waited), work.signal, queueKeysOf(work.origin?.ip));
  return entities;
}

async function makeInTurns<E>(
  entities: E[],
  whole: (entity: E) => void,
  work: UnitOfWork,
  waited: boolean,
): Promise<void> {
  if (waited) work.waitedLong = true;
  const turns = new LoopTurns();
  for (const entity of entities) {
    if (turns.isOver) await turns.next();
    whole(entity);
  }
}

export function charactersOf(included: IncludedTexts[]): number {
  let characters = 0;
  for (const { texts } of included) for (const text of texts.values()) characters += text?.length ?? 0;
  return characters;
}
