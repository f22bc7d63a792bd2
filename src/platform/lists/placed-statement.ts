import type { ObjectLiteral, Repository } from 'typeorm';
import { type PlainEntity, quoted } from '../rows/plain-entity';
import { sharedRead } from '../rows/shared-read';
import { nameOf } from '../transactions/statement-names';
import type { Slice } from './list';
import { sharedLane } from './list-lane';
import { type ListQuery, WORK } from './list-query';
import { DEEP, pageRows, selected } from './read-plain-rows';
import { columnsFor, type ReadOptions } from './read-rows';
import { bytesOfColumns } from './row-sizes';

/** A counted list of all rows of a table, sorted by their ids. */
export interface PlacedList<E extends ObjectLiteral> {
  repository: Repository<E>;
  plain: PlainEntity<E>;
  query: ListQuery;
  options: ReadOptions<E>;
  total: () => Promise<number>;
}

/** The ids to find, in an index alone. */
interface Ids {
  backward: boolean;
  /** SQL of a condition. */
  from: string;
  /** SQL of the number of rows. */
  limit: string;
  /** SQL of the number of rows to skip. */
  offset: string;
  /** How many rows are skipped and read. */
  reach: number;
  /** Whether many pages are read so, and PostgreSQL should keep the plan: the process names a limited number of statements. */
  isUsual: boolean;
}

/** SQL of the counts of the list's table. */
export const COUNTS = 'row_counts WHERE table_name = $1';

/** A statement that reads rows of the list. */
export class PlacedStatement<E extends ObjectLiteral> {
  /** SQL of all rows of the list. */
  readonly rows: string;
  /** SQL of the greatest id in the table, of a hidden row or another: it is found at once, however many rows are hidden. */
  readonly last: string;
  readonly plain: PlainEntity<E>;
  private readonly values: unknown[];
  private readonly added: string[] = [];

  constructor(
    private readonly list: PlacedList<E>,
    private readonly slice: Pick<Slice, 'direction' | 'weighs'> = { direction: 'ASC' },
  ) {
    const { repository, plain } = list;
    this.values = [repository.metadata.tableName];
    this.rows = `${plain.table} WHERE ${plain.present ?? 'true'}`;
    this.last = `SELECT max(id) FROM ${plain.table}`;
    this.plain = plain;
  }

  /** SQL of a value. */
  value(value: unknown): string {
    return `$${this.values.push(value)}`;
  }

  /** Adds another column to the rows. @param name one that no column of a table has @param value SQL of its value */
  add(name: string, value: string): void {
    this.added.push(`, (${value}) AS ${quoted(name)}`);
  }

  /** The rows of these ids, in the order of the slice. */
  read<R>({ backward, from, limit, offset, reach, isUsual }: Ids): Promise<(E & R)[]> {
    const { repository, plain, query, options } = this.list;
    const wanted = columnsFor(repository, query, options.always);
    const order = `ORDER BY id ${backward ? 'DESC' : 'ASC'}`;
    const ids = `SELECT id FROM ${pageRows(`${this.rows}${from}`, order, reach)} ${order} LIMIT ${limit} OFFSET ${offset}`;
    const sorted = `ORDER BY id ${this.slice.direction}`;
    const found = `FROM ${plain.table} WHERE id = ANY(ARRAY(${ids})) ${sorted}`;
    const bytes = this.slice.weighs ? bytesOfColumns(repository.metadata, wanted) : '0';
    const columns = [plain.select(wanted), ...this.added].join('');
    return this.run(selected(columns, found, bytes, sorted), reach < DEEP, isUsual);
  }

  /** @param isAtHand whether it costs so little that it need not wait for its turn among lists */
  run<R extends object>(text: string, isAtHand: boolean, isUsual: boolean): Promise<R[]> {
    const { repository, query } = this.list;
    const { dataSource } = repository.manager;
    const name = isUsual && !query.fields ? nameOf(text) : undefined;
    const lane = isAtHand ? undefined : sharedLane(dataSource, query[WORK]);
    return sharedRead<R>(dataSource, { name, text, values: this.values }, lane);
  }
}
