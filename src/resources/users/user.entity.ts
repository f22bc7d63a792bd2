import { Check, Column, DeleteDateColumn, Entity, Index } from 'typeorm';
import { declareErrors, NotFoundCode, ResourceEntity, Role } from '../../platform';

export enum UserStatus {
  ACTIVE = 'ACTIVE',
  SUSPENDED = 'SUSPENDED',
}

const roles = Object.values(Role)
  .map((role) => `'${role}'`)
  .join(', ');
const present = 'deleted_at IS NULL';

const { USER_NOT_FOUND } = declareErrors({ USER_NOT_FOUND: { status: 404, message: 'User not found' } });

@Entity('users')
@NotFoundCode(USER_NOT_FOUND)
@Index('users_username_unique', ['username_key'], { unique: true, where: present })
@Index('users_email_unique', ['email_key'], { unique: true, where: present })
@Index('users_username_sort', ['username', 'id'], { where: present })
@Index('users_email_sort', ['email', 'id'], { where: present })
@Index('users_name_sort', ['name', 'id'], { where: present })
@Index('users_status_sort', ['status', 'id'], { where: present })
@Index('users_created_at_sort', ['created_at', 'id'], { where: present })
@Index('users_updated_at_sort', ['updated_at', 'id'], { where: present })
@Index('users_administrators', { synchronize: false })
@Index('users_username_search', { synchronize: false })
@Index('users_email_search', { synchronize: false })
@Index('users_name_search', { synchronize: false })
@Check('users_username_length', 'char_length(username) >= 3')
@Check('users_status_known', "status IN ('ACTIVE', 'SUSPENDED')")
@Check('users_roles_known', `roles <@ ARRAY[${roles}] AND cardinality(roles) > 0`)
export class User extends ResourceEntity {
  @Column({ type: 'varchar', length: 20 })
  username: string;

  /** What makes two spellings the same user; see identityKey(). */
  @Column('text')
  username_key: string;

  @Column({ type: 'varchar', length: 254 })
  email: string;

  @Column('text')
  email_key: string;

  /** argon2id; null when the user signs in elsewhere only, or was deleted. */
  @Column({ type: 'text', nullable: true })
  password_hash: string | null;

  @Column({ type: 'varchar', length: 100, nullable: true })
  name: string | null;

  @Column({ type: 'text', default: UserStatus.ACTIVE })
  status: UserStatus;

  @Column({ type: 'text', array: true, default: [Role.USER] })
  roles: Role[];

  /** Hidden since then: its names are free again, what it wrote and bought stays. */
  @DeleteDateColumn({ type: 'timestamptz', precision: 3, nullable: true })
  deleted_at: Date | null;
}
