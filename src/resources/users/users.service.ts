import { ForbiddenException, Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type FindOptionsWhere, Repository } from 'typeorm';
import { AuthenticationError, requireSelfOrAdmin } from '../../auth/auth-errors';
import { type Caller, isAdmin, Role } from '../../auth/caller';
import { hashPassword } from '../../auth/passwords';
import { Sessions } from '../../auth/sessions';
import type { Page } from '../../conventions/lists/page';
import { paginate } from '../../conventions/lists/paginate';
import { insertRow } from '../../database/insert-row';
import { readRow } from '../../database/read-row';
import { updateRow } from '../../database/update-row';
import type { Hashed } from './registration.pipe';
import type { CreateUserDto, ListUsersQuery, PatchUserDto, ReplaceUserDto } from './user.dto';
import { UserEvents } from './user-events';
import { User, UserStatus } from './user.entity';
import { identityKey } from '../../auth/identity-key';

/** How long ago, in seconds, the password may have been given to change it. */
const PASSWORD_CHANGE_MAX_AGE = 600;
const MILLISECOND = 1_000;

const DEFAULTS = { name: null, status: UserStatus.ACTIVE, roles: [Role.USER] };

@Injectable()
export class UsersService {
  constructor(
    @InjectRepository(User) private readonly users: Repository<User>,
    private readonly sessions: Sessions,
    private readonly events: UserEvents,
  ) {}

  list(query: ListUsersQuery, caller: Caller): Promise<Page<User>> {
    return paginate(this.users, query, {
      searchable: isAdmin(caller) ? ['username', 'name', 'email'] : ['username', 'name'],
      hidden: isAdmin(caller) ? [] : ['email'],
    });
  }

  get(id: number): Promise<User> {
    return readRow(this.users.manager, User, id);
  }

  /** @param login a username or an e-mail address; only the latter has an @ */
  find(login: string): Promise<User | null> {
    const key = identityKey(login);
    const where: FindOptionsWhere<User> = login.includes('@') ? { email_key: key } : { username_key: key };
    return this.users.findOneBy(where);
  }

  async create(input: CreateUserDto, caller: Caller | undefined): Promise<User> {
    requireAdminFor(input, caller);
    const user = await insertRow(this.users.manager, User, await toColumns({ ...DEFAULTS, ...input }));
    this.events.created(user);
    return user;
  }

  replace(id: number, input: ReplaceUserDto, caller: Caller): Promise<User> {
    return this.change(id, { ...DEFAULTS, ...input }, input, caller);
  }

  update(id: number, changes: PatchUserDto, caller: Caller): Promise<User> {
    return this.change(id, changes, changes, caller);
  }

  async remove(id: number, caller: Caller): Promise<void> {
    requireSelfOrAdmin(caller, (await this.get(id)).id);
    await this.users.manager.transaction(async (manager) => {
      await updateRow(manager, User, id, { deleted_at: new Date() });
      await this.sessions.endAll(manager, id);
    });
    this.events.deleted(id);
  }

  /** A user as the caller that it will be. */
  asCaller({ id, roles }: User): Caller {
    return { id, roles, authenticatedAt: 0 };
  }

  /** @param input what the caller wrote, without defaults: that is what it needs permission for */
  private async change(id: number, changes: PatchUserDto, input: PatchUserDto, caller: Caller): Promise<User> {
    const before = await this.get(id);
    requireSelfOrAdmin(caller, before.id);
    requireAdminFor(input, caller);
    if (input.password !== undefined) requireRecentSignIn(caller);
    const columns = await toColumns(changes);
    const after = await this.users.manager.transaction(async (manager) => {
      const user = await updateRow(manager, User, id, columns);
      // Who holds an old token must not act for the user any longer.
      if (input.password !== undefined || user.status === UserStatus.SUSPENDED) await this.sessions.endAll(manager, id);
      return user;
    });
    this.events.changed(before, after);
    return after;
  }
}

function requireAdminFor({ status, roles }: PatchUserDto, caller: Caller | undefined): void {
  if ((status === undefined && roles === undefined) || isAdmin(caller)) return;
  throw onlyAdministrators();
}

/** 403 for the attributes that only administrators may set. */
export function onlyAdministrators(): ForbiddenException {
  return new ForbiddenException('Only an administrator may set status and roles');
}

function requireRecentSignIn({ authenticatedAt }: Caller): void {
  if (Date.now() - authenticatedAt <= PASSWORD_CHANGE_MAX_AGE * MILLISECOND) return;
  throw signInTooOld();
}

/** 401 for a change of password with an old token, however valid. */
export function signInTooOld(): AuthenticationError {
  return AuthenticationError.tooOld(PASSWORD_CHANGE_MAX_AGE);
}

/** The columns behind attributes; an attribute that isn't there leaves its columns alone. */
async function toColumns({ username, email, password, ...others }: PatchUserDto & Hashed): Promise<Partial<User>> {
  return {
    ...(password !== undefined && !others.password_hash && { password_hash: await hashPassword(password) }),
    ...others,
    ...(username !== undefined && { username, username_key: identityKey(username) }),
    ...(email !== undefined && { email, email_key: identityKey(email) }),
  };
}
