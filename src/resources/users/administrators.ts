import { ArrayContains, type EntityManager, Not } from 'typeorm';
import { type ApiError, conflict, lockName, Role } from '../../platform';
import { User, UserStatus } from './user.entity';

const ACTIVE_ADMINISTRATOR = { roles: ArrayContains([Role.ADMIN]), status: UserStatus.ACTIVE };

export function isActiveAdministrator({ roles, status }: Pick<User, 'roles' | 'status'>): boolean {
  return status === UserStatus.ACTIVE && roles.includes(Role.ADMIN);
}

export function hasActiveAdministrator(manager: EntityManager): Promise<boolean> {
  return manager.existsBy(User, ACTIVE_ADMINISTRATOR);
}

/**
 * Called before an active administrator stops being one, in the same transaction. Runs one transaction at a time: of
 * two administrators who both see the other, both could go.
 * @throws {ApiError} CONFLICT when there is no other active administrator
 */
export async function requireAnother(manager: EntityManager, { id }: User, field: Ending): Promise<void> {
  await lockName(manager, 'administrators');
  if (!(await manager.existsBy(User, { ...ACTIVE_ADMINISTRATOR, id: Not(id) }))) throw lastAdministrator(field);
}

/** The attribute whose change ends an administrator; the id for a deletion. */
type Ending = 'roles' | 'status' | 'id';

/** 409 for a change or deletion that would leave no active administrator. */
export function lastAdministrator(field: Ending): ApiError {
  const details = 'There must be another active administrator first';
  return conflict([{ field, rule: 'administrator', message: 'needs another active administrator first' }], { details });
}
