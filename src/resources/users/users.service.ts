import { ForbiddenException, Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, type FindOptionsWhere, Repository } from 'typeorm';
import {
  type Caller,
  insertRow,
  isAdmin,
  type Page,
  paginate,
  type Precondition,
  readRow,
  requireExpected,
  requireExpectedSoFar,
  requireSelfOrAdmin,
  Role,
  updateRow,
} from '../../platform';
import { hashPassword, identityKey, LocalPasswords, oneChangeAtATime, Sessions } from '../../platform/accounts';
import { Callers } from '../../platform/features';
import { isActiveAdministrator, requireAnother } from './administrators';
import { NameClaims } from './name-claims';
import { notAPicture, requireOwnPicture } from './own-picture';
import { requireRecentSignIn } from './recent-sign-in';
import type { Hashed } from './registration.pipe';
import type { CreateUserDto, ListUsersQuery, PatchUserDto } from './user.dto';
import { UserEvents } from './user-events';
import { User, UserStatus } from './user.entity';

@Injectable()
export class UsersService {
  constructor(
    @InjectRepository(User) private readonly users: Repository<User>,
    private readonly sessions: Sessions,
    private readonly callers: Callers,
    private readonly localPasswords: LocalPasswords,
    private readonly claims: NameClaims,
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
    // A new user has no pictures yet.
    if (input.image && !isAdmin(caller)) throw notAPicture();
    if (!caller || !givesRights(input)) return this.insert(input);
    if (input.roles?.some((role) => role !== Role.USER)) requireRecentSignIn(caller);
    const columns = await toColumns(input);
    const user = await this.users.manager.transaction(async (manager) => {
      await this.callers.hold(manager, caller);
      return insertRow(manager, User, columns);
    });
    this.events.created(user);
    return user;
  }

  /** Inserts a user, without any check of the caller. */
  async insert(input: CreateUserDto): Promise<User> {
    const user = await insertRow(this.users.manager, User, await toColumns(input));
    this.events.created(user);
    return user;
  }

  async update(id: number, changes: PatchUserDto, caller: Caller, expected?: Precondition): Promise<User> {
    const user = await this.get(id);
    requireSelfOrAdmin(caller, user.id);
    requireAdminFor(changes, caller);
    if (changes.password !== undefined) {
      await this.localPasswords.requireAllowed(id);
      requireRecentSignIn(caller);
      requireExpectedSoFar(user, expected);
    }
    if (isRaised(user, changes)) requireRecentSignIn(caller);
    if (isRenamed(user, changes)) await this.claimNames(user, changes, caller, expected);
    // Hashed before a connection is taken.
    const prepare = () => toColumns(changes);
    const columns = await (changes.password === undefined ? prepare() : oneChangeAtATime(id, prepare));
    const [before, after] = await this.users.manager.transaction(async (manager) => {
      const before = await this.hold(manager, id, caller, expected);
      if (isRenamed(before, columns) || isRaised(before, columns)) requireRecentSignIn(caller);
      if (showsAnother(before, columns) && !isAdmin(caller)) await requireOwnPicture(manager, columns.image!, id);
      if (endsAdministrator(before, columns)) await requireAnother(manager, before, endingOf(columns));
      const after = await updateRow(manager, User, id, columns);
      // An old token must not act for the user any longer.
      const ends = changes.password !== undefined || after.status === UserStatus.SUSPENDED;
      if (ends) await this.sessions.endAll(manager, id);
      return [before, after] as const;
    });
    this.events.changed(before, after);
    return after;
  }

  async remove(id: number, caller: Caller, expected?: Precondition): Promise<void> {
    requireSelfOrAdmin(caller, (await this.get(id)).id);
    requireRecentSignIn(caller);
    await this.users.manager.transaction(async (manager) => {
      const user = await this.hold(manager, id, caller, expected);
      if (isActiveAdministrator(user)) await requireAnother(manager, user, 'id');
      // The hash is deleted: nobody can sign in with it, and the password may be in use elsewhere.
      await updateRow(manager, User, id, { deleted_at: new Date(), password_hash: null });
      await this.sessions.endAll(manager, id);
    });
    this.events.deleted(id);
  }

  /**
   * Counts new names before the transaction, which would hold a connection meanwhile, and would roll the count back.
   */
  private async claimNames(
    user: User,
    { email = user.email }: PatchUserDto,
    caller: Caller,
    expected?: Precondition,
  ): Promise<void> {
    // An administrator may decide whose address it is.
    if (email !== user.email && !isAdmin(caller)) await this.localPasswords.requireOwnAddress(user.id);
    requireRecentSignIn(caller);
    requireExpectedSoFar(user, expected);
    if (!isAdmin(caller)) await this.claims.rename(user.id);
  }

  /** The caller that a new user will be. */
  asCaller({ id, roles }: User): Caller {
    return { id, roles, authenticatedAt: 0 };
  }

  /** The user in the expected version, locked together with the caller until the transaction ends. */
  private async hold(manager: EntityManager, id: number, caller: Caller, expected?: Precondition): Promise<User> {
    await this.callers.hold(manager, caller, id);
    const user = await manager.findOneByOrFail(User, { id });
    requireExpected(user, expected);
    return user;
  }
}

function requireAdminFor(input: PatchUserDto, caller: Caller | undefined): void {
  if (givesRights(input) && !isAdmin(caller)) throw onlyAdministrators();
}

function givesRights({ status, roles }: PatchUserDto): boolean {
  return status !== undefined || roles !== undefined;
}

/** True if the username or the e-mail address changes. */
function isRenamed(before: User, { username = before.username, email = before.email }: PatchUserDto): boolean {
  return username !== before.username || email !== before.email;
}

/** True if the user gets more rights. A caller who grants rights that require a recent sign-in needs one itself. */
function isRaised(before: Pick<User, 'roles' | 'status'>, { roles = [], status }: Partial<typeof before>): boolean {
  const isActivated = status === UserStatus.ACTIVE && before.status !== status;
  return isActivated || roles.some((role) => !before.roles.includes(role));
}

/** True if the user gets a picture, or another one. */
const showsAnother = (before: User, { image }: Partial<User>): boolean => Boolean(image) && image !== before.image;

/** 403 for the attributes that only administrators may set. */
export function onlyAdministrators(): ForbiddenException {
  return new ForbiddenException('Only an administrator may set status and roles');
}

function endsAdministrator(before: User, { roles = before.roles, status = before.status }: Partial<User>): boolean {
  return isActiveAdministrator(before) && !isActiveAdministrator({ roles, status });
}

/** The attribute by which a change ends an administrator. */
function endingOf({ roles }: Partial<User>): 'roles' | 'status' {
  return roles && !roles.includes(Role.ADMIN) ? 'roles' : 'status';
}

/** The columns of attributes. A missing attribute leaves its columns unchanged. */
async function toColumns({ username, email, password, ...others }: PatchUserDto & Hashed): Promise<Partial<User>> {
  return {
    ...(password !== undefined && !others.password_hash && { password_hash: await hashPassword(password) }),
    ...others,
    ...(username !== undefined && { username, username_key: identityKey(username) }),
    ...(email !== undefined && { email, email_key: identityKey(email) }),
  };
}
