import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import type { Request, Response } from 'express';
import { DataSource } from 'typeorm';
import { type Caller, isAdmin } from '../auth/caller';
import { relatedRows } from '../lists/related-rows';
import { UnitOfWork } from '../transactions/unit-of-work';
import { type Change, type ChangeEvent, changeOf, EVERYBODY, kindFor, readerOf } from './change-event';
import { type ChangedType, changedTypes } from './changed-types';
import { SettledChanges } from './settled-changes';

export interface ChangesRead {
  changes: Change[];
  /** The position to go on from. */
  next: number;
  /** True if there are changes after `next` already. */
  more: boolean;
}

export interface ResourcesRead {
  resources: Map<Change, object>;
  /** How many of the first changes have theirs. */
  complete: number;
}

export interface ChangesQuery {
  types: readonly ChangedType[];
  /** The position of the last change that the reader knows. */
  after: number;
  /** The greatest number of changes. */
  size: number;
  /** Whose rights decide. */
  caller: Caller;
}

interface Found {
  seen: number;
  last: number | null;
  rows: ChangeEvent[] | null;
}

/** Events that one read looks through, whoever may see them. */
const MAX_SEEN = 5_000;

/** @param found what follows the condition that an event is in the feed */
const readWhere = (found: string): string => `
  WITH seen AS MATERIALIZED (
    SELECT id, created_at, action, resource, resource_id, coalesce(version_after, version_before) AS version,
           readers_before, readers_after
      FROM audit_events WHERE id > $1 AND id <= $2 ORDER BY id LIMIT ${MAX_SEEN}
  ), found AS (
    SELECT * FROM seen
     WHERE (readers_before IS NOT NULL OR readers_after IS NOT NULL) ${found}
  )
  SELECT (SELECT count(*)::integer FROM seen) AS seen, (SELECT max(id) FROM seen) AS last,
         (SELECT json_agg(found ORDER BY id) FROM found) AS rows`;

const READ_ALL = readWhere('');
const READ = readWhere(`
       AND resource = ANY ($3)
       AND ($4::bigint IS NULL OR readers_before IN (${EVERYBODY}, $4) OR readers_after IN (${EVERYBODY}, $4))
     ORDER BY id LIMIT $5`);

/** The first event that is not older than a moment, by bisection: events come nearly in the order of their time. */
const FIRST_SINCE = `
  WITH RECURSIVE search (low, high) AS (
    SELECT coalesce(min(id), 1), $2::bigint + 1 FROM audit_events
     UNION ALL
    SELECT CASE WHEN is_older THEN middle + 1 ELSE low END, CASE WHEN is_older THEN high ELSE middle END
      FROM (SELECT low, high, (low + high) / 2 AS middle,
                   coalesce((SELECT created_at < $1 FROM audit_events WHERE id >= (low + high) / 2 ORDER BY id LIMIT 1),
                            false) AS is_older
              FROM search WHERE low < high) AS half
  )
  SELECT low AS first FROM search WHERE low >= high LIMIT 1`;

/** Reads what has changed, from the events that the triggers of `auditRows()` leave. */
@Injectable()
export class Changes {
  constructor(
    @InjectDataSource() private readonly database: DataSource,
    private readonly settled: SettledChanges,
  ) {}

  /** The types whose changes this caller may be told. */
  async typesFor(caller: Caller): Promise<ChangedType[]> {
    const types = await changedTypes(this.database);
    return types.filter(({ rows }) => isAdmin(caller) || rows?.mayBeReadBy(caller));
  }

  /** The position after all changes that have been committed. */
  now(): Promise<number> {
    return this.settled.upTo();
  }

  /** False for a position that this database has never had. */
  isKnown(position: number): Promise<boolean> {
    return this.settled.hasGiven(position);
  }

  /** The position before the first change that is not older than a moment. */
  async before(moment: Date): Promise<number> {
    const settled = await this.settled.upTo();
    const [{ first }] = await this.database.query<{ first: number }[]>(FIRST_SINCE, [moment, settled]);
    // The first event that can be seen may come after some that can't yet.
    return Math.min(Number(first) - 1, settled);
  }

  /**
   * The changes after a position in the order in which they were made, of what the caller may read or could read until then.
   * No change will ever come before `next`. One read looks through a bounded number of events, so it may find none and
   * have more all the same.
   */
  async read(query: ChangesQuery): Promise<ChangesRead> {
    const settled = Math.max(await this.settled.upTo(), query.after);
    return this.readUpTo(settled, query);
  }

  /** As {@link read}, up to a position that is known to be settled. */
  async readUpTo(settled: number, { types, after, size, caller }: ChangesQuery): Promise<ChangesRead> {
    const reader = readerOf(caller);
    const names = types.map(({ name }) => name);
    const [found] = await this.database.query<Found[]>(READ, [after, settled, names, reader, size]);
    const rows = found.rows ?? [];
    const isFull = rows.length === size;
    const next = isFull ? rows[size - 1].id : found.seen === MAX_SEEN ? found.last! : settled;
    const changes = rows.map((row) => changeOf(row, kindFor(row, reader)!));
    return { changes, next, more: next < settled };
  }

  /** The events after one position, up to another that is settled, whoever may see them. Their number is bounded: `next` says how far. */
  async eventsBetween(after: number, settled: number): Promise<{ events: ChangeEvent[]; next: number }> {
    const [found] = await this.database.query<Found[]>(READ_ALL, [after, settled]);
    return { events: found.rows ?? [], next: found.seen === MAX_SEEN ? found.last! : settled };
  }

  /**
   * The representations of the resources of some changes, as the request's caller sees them now. Others are hidden or gone.
   * `complete` says of how many of the first changes: resources that would make the answer too large aren't read.
   */
  async resourcesOf(changes: Change[], types: readonly ChangedType[], request: Request): Promise<ResourcesRead> {
    const { user: caller } = request;
    const resources = new Map<Change, object>();
    let complete = changes.length;
    const reading = {
      database: this.database,
      work: request.work ?? new UnitOfWork(),
      response: request.res as Response,
      mayShorten: true,
    };
    for (const { name, rows } of types) {
      const ofType = changes.filter(({ type }) => type === name);
      if (!rows || ofType.length === 0) continue;
      const relation = { name: 'resource', rows, key: 'id', by: 'id' };
      const keys = [...new Set(ofType.map(({ id }) => id))];
      const found = await relatedRows({ relation, keys, caller, limit: 1, counts: false }, reading);
      for (const change of ofType) {
        const [row] = found.rows.get(change.id) ?? [];
        if (row) resources.set(change, rows.toItem(row, caller));
      }
      const missing = new Set(keys.slice(found.complete));
      const first = changes.findIndex(({ type, id }) => type === name && missing.has(id));
      if (first >= 0) complete = Math.min(complete, first);
    }
    // One resource is smaller than an answer may be.
    return { resources, complete: Math.max(complete, 1) };
  }
}
