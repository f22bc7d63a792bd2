import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import {
  ApiError,
  type Caller,
  type Change,
  type ChangedType,
  Changes,
  declareErrors,
  seconds,
  StartupError,
  validationError,
} from '../../platform';
import { AuditSettings } from '../audit-events/audit-settings';
import type { ChangesDto, ChangesQuery } from './change.dto';
import { ChangesSettings } from './changes-settings';
import { type Mark, markText, parseMark } from './mark';

const ChangesErrors = declareErrors({
  CHANGES_EXPIRED: { status: 410, message: 'The changes after this cursor are no longer kept' },
});

/** 410 for a mark whose changes may be gone. */
export const changesExpired = () =>
  new ApiError(ChangesErrors.CHANGES_EXPIRED, {
    details: 'Ask for cursor=now, read the collections again, and go on from that cursor',
  });

@Injectable()
export class ChangesService {
  constructor(
    private readonly changes: Changes,
    private readonly settings: ChangesSettings,
    { AUDIT_RETENTION }: AuditSettings,
  ) {
    if (settings.CHANGES_RETENTION < AUDIT_RETENTION) return;
    throw new StartupError(
      'CHANGES_RETENTION must be less than AUDIT_RETENTION: a change is read from its audit event',
    );
  }

  /**
   * @throws {ApiError} CHANGES_EXPIRED for a mark older than CHANGES_RETENTION, VALIDATION_ERROR for a text that is no mark,
   * and for a type that the caller doesn't know
   */
  async read(
    { types: names, cursor, size, include }: ChangesQuery,
    caller: Caller,
    request: Request,
  ): Promise<ChangesDto> {
    const types = chosen(await this.changes.typesFor(caller), names);
    // The mark tells when the reader was here, so the moment is taken before anything is read.
    const at = Date.now();
    if (cursor === 'now') return answerOf([], { position: await this.changes.now(), at }, false);
    const after = cursor === undefined ? await this.oldest(at) : this.positionOf(cursor, at);
    const { changes, next, more } = await this.changes.read({ types, after, size, caller });
    const resources = include && (await this.changes.resourcesOf(changes, types, request));
    return answerOf(changes, { position: next, at }, more, resources);
  }

  private oldest(now: number): Promise<number> {
    return this.changes.before(new Date(now - seconds(this.settings.CHANGES_RETENTION)));
  }

  private positionOf(cursor: string, now: number): number {
    const mark = parseMark(cursor);
    if (!mark || mark.at > now + seconds(60)) {
      throw validationError([{ field: 'cursor', rule: 'cursor', message: 'must be `now`, or a cursor of this feed' }]);
    }
    if (mark.at < now - seconds(this.settings.CHANGES_RETENTION)) throw changesExpired();
    return mark.position;
  }
}

function chosen(known: ChangedType[], names: string | undefined): ChangedType[] {
  if (names === undefined) return known;
  const wanted = names.split(',');
  const unknown = wanted.filter((name) => !known.some((type) => type.name === name));
  if (unknown.length === 0) return known.filter(({ name }) => wanted.includes(name));
  const message = `must be names of ${known.map(({ name }) => name).join(', ')}`;
  throw validationError([{ field: 'types', rule: 'enum', message }]);
}

function answerOf(changes: Change[], mark: Mark, more: boolean, resources?: Map<Change, object>): ChangesDto {
  return {
    changes: changes.map((one) => ({
      type: one.type,
      id: one.id,
      change: one.change,
      version: one.version,
      at: one.at,
      ...(resources && { resource: resources.get(one) ?? null }),
    })),
    next: markText(mark),
    more,
  };
}
