import { Check, Column, DeleteDateColumn, Entity, Index } from 'typeorm';
import { declareErrors, NotFoundCode, ResourceEntity, Role, SearchableBy, SortableBy } from '../../platform';

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
@SortableBy('username', 'email', 'name', 'status', 'created_at', 'updated_at')
@SearchableBy('username', 'email', 'name')
@Index('users_administrators', { synchronize: false })
@Index('users_present', ['id'], { where: 'deleted_at IS NULL' })
@Check('users_username_length', 'char_length(username) >= 3')
@Check('users_status_known', "status IN ('ACTIVE', 'SUSPENDED')")
@Check('users_roles_known', `roles <@ ARRAY[${roles}] AND cardinality(roles) > 0`)
export class User extends ResourceEntity {
  @Column({ type: 'varchar', length: 20 })
  username: string;

  /** The key that identifies spellings of the same name; see identityKey(). */
  @Column('text')
  username_key: string;

  @Column({ type: 'varchar', length: 254 })
  email: string;

  @Column('text')
  email_key: string;

  /** An argon2id hash. Null for a deleted user, and for a user who only signs in at the identity provider. */
  @Column({ type: 'text', nullable: true })
  password_hash: string | null;

  @Column({ type: 'varchar', length: 100, nullable: true })
  name: string | null;

  /** The key of a picture. Triggers keep it true: see the table `shown_pictures`. */
  @Column({ type: 'uuid', nullable: true })
  image: string | null;

  @Column({ type: 'text', default: UserStatus.ACTIVE })
  status: UserStatus;

  @Column({ type: 'text', array: true, default: [Role.USER] })
  roles: Role[];

  /**
   * Set when the user was deleted. The row is hidden then and its names are free again. The user's posts and orders
   * remain.
   */
  @DeleteDateColumn({ type: 'timestamptz', precision: 3, nullable: true })
  deleted_at: Date | null;
}
