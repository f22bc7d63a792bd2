import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import {
  type Caller,
  ChangeListeners,
  Changes,
  type ChangesRead,
  EventStream,
  seconds,
  StartupError,
} from '../../platform';
import { AuditSettings } from '../audit-events/audit-settings';
import type { ChangesDto, ChangesQuery } from './change.dto';
import { ChangeStream } from './change-stream';
import { ChangesSettings } from './changes-settings';
import { changesExpired, chosenTypes, notACursor } from './changes-errors';
import { changeOf } from './change-of';
import { markText, parseMark } from './mark';

@Injectable()
export class ChangesService {
  constructor(
    private readonly changes: Changes,
    private readonly listeners: ChangeListeners,
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
   * and for a type that the caller doesn't know, TOO_MANY_REQUESTS for a caller who waits too often
   */
  async read(query: ChangesQuery, caller: Caller, request: Request): Promise<ChangesDto> {
    const { types: names, cursor, size, include, wait } = query;
    const types = chosenTypes(await this.changes.typesFor(caller), names);
    if (wait > 0) this.admit(request);
    // The mark tells when the reader was here, so the moment is taken before anything is read.
    let at = Date.now();
    const isNow = cursor === 'now';
    const after = await this.positionOf(cursor, at);
    if (isNow && wait === 0) return answerOf({ changes: [], next: after, more: false }, at);
    const asked = { types, after, size, caller };
    const found = wait > 0 ? await this.listeners.wait(request, asked, seconds(wait)) : await this.changes.read(asked);
    // A caller who has waited has seen everything until now.
    if (wait > 0 && found.changes.length === 0 && !found.more) at = Date.now();
    if (!include) return answerOf(found, at);
    const { resources, complete } = await this.changes.resourcesOf(found.changes, types, request);
    return answerOf(beginningOf(found, complete), at, resources);
  }

  /**
   * Follows the feed, by default from now on.
   * @throws as {@link read}
   */
  async follow(
    query: ChangesQuery,
    lastId: string | undefined,
    caller: Caller,
    request: Request,
  ): Promise<EventStream> {
    const types = chosenTypes(await this.changes.typesFor(caller), query.types);
    this.admit(request);
    const isBack = lastId !== undefined && lastId !== '';
    const cursor = isBack ? lastId : (query.cursor ?? 'now');
    const after = await this.positionOf(cursor, Date.now(), isBack ? 'Last-Event-ID' : 'cursor');
    const asked = { types, after, caller, includes: query.include !== undefined };
    return new EventStream((sink) => new ChangeStream(this.changes, this.listeners, request, sink).begin(asked));
  }

  private admit(request: Request): void {
    const { CHANGES_LISTENERS, CHANGES_LISTENERS_PER_USER, CHANGES_LISTENERS_PER_NETWORK } = this.settings;
    this.listeners.admit(request, {
      all: CHANGES_LISTENERS,
      ofUser: CHANGES_LISTENERS_PER_USER,
      ofNetwork: CHANGES_LISTENERS_PER_NETWORK,
    });
  }

  private async positionOf(cursor: string | undefined, now: number, field = 'cursor'): Promise<number> {
    const oldest = now - seconds(this.settings.CHANGES_RETENTION);
    if (cursor === undefined) return this.changes.before(new Date(oldest));
    if (cursor === 'now') return this.changes.now();
    const mark = parseMark(cursor);
    if (!mark || mark.at > now + seconds(60)) throw notACursor(field);
    if (mark.at < oldest) throw changesExpired();
    if (!(await this.changes.isKnown(mark.position))) throw changesExpired();
    return mark.position;
  }
}

/** The first changes of some. The others come with the next mark. */
function beginningOf(found: ChangesRead, count: number): ChangesRead {
  if (count >= found.changes.length) return found;
  const changes = found.changes.slice(0, count);
  return { changes, next: changes[count - 1].position, more: true };
}

function answerOf({ changes, next, more }: ChangesRead, at: number, resources?: Map<object, object>): ChangesDto {
  return {
    changes: changes.map((one) => changeOf(one, resources && (resources.get(one) ?? null))),
    next: markText({ position: next, at }),
    more,
  };
}
