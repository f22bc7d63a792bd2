import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, type EntityManager } from 'typeorm';
import { UnitOfWork } from '../transactions/unit-of-work';
import { type Access, isAllowed } from './access.decorators';
import { AuthenticationError, roleMissing } from './auth-errors';
import type { Caller, Role } from './caller';
import { Sessions } from './sessions';
import { UserDirectory } from './user-directory';

/** Looks callers up again: what the guards found gets out of date while a body arrives or a lock is awaited. */
@Injectable()
export class Callers {
  constructor(
    @InjectDataSource() private readonly database: DataSource,
    private readonly sessions: Sessions,
    private readonly users: UserDirectory,
  ) {}

  /**
   * Looks a caller up again, after its request has waited for its client. An undefined caller passes: the guards let
   * anonymous callers in only where that is allowed.
   * @param access the access of the route
   * @throws {AuthenticationError} when the session has ended, or the user is suspended, deleted or has lost a role: a
   *   new token states what the user may do now
   * @throws {ForbiddenException} when the user may no longer call the route
   */
  async confirm(caller: Caller | undefined, access?: Access): Promise<void> {
    if (!caller) return;
    const now = (await isStillGood(caller)) ? await this.find(caller) : undefined;
    if (now && access && !isAllowed(access, { ...caller, ...now })) throw roleMissing();
    requireSame(caller, now);
  }

  /**
   * Looks many callers up again, by one statement. For answers that go on for long.
   * @returns those that {@link confirm} would refuse
   */
  async goneAmong(callers: readonly Caller[]): Promise<Set<Caller>> {
    const ofKeys = new Map<string, Caller[]>();
    for (const caller of callers) {
      const key = `${caller.id} ${caller.sessionId} ${caller.roles.join()}`;
      const others = ofKeys.get(key);
      if (others) others.push(caller);
      else ofKeys.set(key, [caller]);
    }
    const groups = [...ofKeys.values()];
    const firsts = groups.map(([first]) => first);
    const gone = new Set((await this.findGone(firsts)).flatMap((number) => groups[number - 1]));
    for (const caller of callers) if (caller.isStillGood && !(await caller.isStillGood())) gone.add(caller);
    return gone;
  }

  /**
   * Confirms a caller like {@link confirm}, and locks it until the transaction ends. For writes that give or take
   * rights. Locks the rows of the caller and of other users in the order of their ids, because two users who change
   * each other would deadlock otherwise.
   * @throws {AuthenticationError}
   */
  async hold(manager: EntityManager, caller: Caller, ...others: number[]): Promise<void> {
    const isGood = await isStillGood(caller);
    const rows = await manager.query<{ id: number; roles: Role[]; active: boolean }[]>(
      `SELECT id, roles, active FROM (${this.users.accounts}) AS account
        WHERE id = ANY($1) ORDER BY id FOR NO KEY UPDATE`,
      [[caller.id, ...others]],
    );
    const user = rows.find(({ id, active }) => id === caller.id && active);
    const held = caller.sessionId === undefined || (await holdSession(manager, caller.sessionId));
    const lives = held && isGood;
    requireSame(caller, lives ? user : undefined);
    UnitOfWork.current()?.holdWriter();
  }

  /** @returns their numbers, from 1 on */
  private async findGone(callers: Caller[]): Promise<number[]> {
    const rows = await UnitOfWork.outside(() =>
      this.database.query<{ number: number }[]>(
        `SELECT number FROM unnest($1::bigint[], $2::uuid[], $3::text[]) WITH ORDINALITY AS asked (id, sid, roles, number)
           LEFT JOIN (${this.users.accounts}) AS account ON account.id = asked.id AND account.active
           LEFT JOIN sessions ON sessions.id = sid AND sessions.user_id = asked.id
          WHERE account.id IS NULL OR (sid IS NOT NULL AND sessions.id IS NULL)
             OR NOT account.roles::text[] @> string_to_array(asked.roles, ',')`,
        [
          callers.map(({ id }) => id),
          callers.map(({ sessionId }) => sessionId ?? null),
          callers.map(({ roles }) => roles.join()),
        ],
      ),
    );
    return rows.map(({ number }) => Number(number));
  }

  private async find({ id, sessionId }: Caller): Promise<{ roles: Role[] } | undefined> {
    if (sessionId !== undefined) return this.sessions.findCaller(sessionId);
    const rows = await this.database.query<{ roles: Role[] }[]>(
      `SELECT roles FROM (${this.users.accounts}) AS account WHERE id = $1 AND active`,
      [id],
    );
    return rows[0];
  }
}

/** Locks a session against its deletion, and returns false if there is none. Refreshing the session stays possible. */
async function holdSession(manager: EntityManager, id: string): Promise<boolean> {
  const rows = await manager.query<unknown[]>('SELECT id FROM sessions WHERE id = $1 FOR KEY SHARE', [id]);
  return rows.length > 0;
}

async function isStillGood(caller: Caller): Promise<boolean> {
  return !caller.isStillGood || caller.isStillGood();
}

function requireSame(before: Caller, now: { roles: Role[] } | undefined): void {
  if (!now || !before.roles.every((role) => now.roles.includes(role))) throw AuthenticationError.invalidToken();
}
