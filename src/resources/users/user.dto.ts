import { ApiProperty, OmitType, PartialType } from '@nestjs/swagger';
import {
  type Caller,
  EmailAddress,
  isAdmin,
  ListQueryOf,
  OneOf,
  ResourceDto,
  resourceOf,
  Role,
  SomeOf,
  Text,
  Uuid,
} from '../../platform';
import { VIEW } from '../../platform/features';
import { User, UserStatus } from './user.entity';
import { isRecognisable } from './username';

const username = { min: 3, max: 20, without: '@' };
/** A rule for new names. Existing names stay as they are. */
const recognisable = {
  name: 'script',
  message: 'must be visible letters, digits and signs of one script, with single blanks between them',
  holds: isRecognisable,
};

/** The attributes of a user that callers may read. A new column stays private until it is listed here. */
export class UserDto extends ResourceDto {
  /**
   * The name to sign in with; unique, whatever its case.
   * @example ada
   */
  @Text(username)
  username: string;

  /**
   * Only the user itself and administrators see it.
   * @example ada@example.com
   */
  @EmailAddress({ optional: true })
  email?: string;

  /**
   * The name to show.
   * @example "Ada Lovelace"
   */
  @Text({ max: 100, nullable: true })
  name: string | null;

  /**
   * The picture to show: the key of a public PNG, JPEG, GIF, WebP or AVIF file. Null for none.
   */
  @ApiProperty({ example: null })
  @Uuid({ nullable: true })
  image: string | null;

  /**
   * A suspended user can't sign in.
   * @example ACTIVE
   */
  @OneOf(UserStatus)
  status: UserStatus;

  /**
   * Only the user itself and administrators see them.
   * @example ["USER"]
   */
  @SomeOf(Role, { optional: true })
  roles?: Role[];
}

// The defaults of status and roles are only documented, and are the columns': callers may not give what they may not set.
/** What a new user is made of. */
export class CreateUserDto {
  /**
   * The name to sign in with; unique, whatever its case. It has visible characters and letters of one script only.
   * @example alan
   */
  @Text({ ...username, also: recognisable })
  username: string;

  /**
   * Unique, whatever its case.
   * @example alan@example.com
   */
  @EmailAddress()
  email: string;

  /**
   * The password, blanks included. No answer contains it.
   * @example "correct horse battery staple"
   */
  @Text({ min: 8, max: 128, secret: true })
  password: string;

  /**
   * The name to show.
   * @example "Alan Turing"
   */
  @Text({ max: 100, nullable: true, default: null })
  name: string | null;

  /**
   * The picture to show: the key of a public PNG, JPEG, GIF, WebP or AVIF file, and one of the user's own unless an
   * administrator writes. Null for none.
   */
  @ApiProperty({ example: null })
  @Uuid({ nullable: true, default: null })
  image: string | null;

  /**
   * Administrators only. A suspended user can't sign in.
   * @example SUSPENDED
   */
  @ApiProperty({ default: UserStatus.ACTIVE })
  @OneOf(UserStatus, { optional: true })
  status?: UserStatus;

  /**
   * Administrators only. `ADMIN` may do what `USER` may.
   * @example ["USER", "ADMIN"]
   */
  @ApiProperty({ default: [Role.USER] })
  @SomeOf(Role, { optional: true })
  roles?: Role[];
}

/** A complete user: a `name` or an `image` that is left out becomes null; `password`, `status` and `roles` stay. */
export class ReplaceUserDto extends OmitType(CreateUserDto, ['password', 'status', 'roles'] as const) {
  /**
   * A new password. It needs a sign-in within the last ten minutes, and ends all sessions.
   * @example "correct horse battery staple"
   */
  @Text({ min: 8, max: 128, secret: true, optional: true })
  password?: string;

  /**
   * Administrators only. A suspended user can't sign in.
   * @example SUSPENDED
   */
  @OneOf(UserStatus, { optional: true })
  status?: UserStatus;

  /**
   * Administrators only. `ADMIN` may do what `USER` may.
   * @example ["USER", "ADMIN"]
   */
  @SomeOf(Role, { optional: true })
  roles?: Role[];
}

/** The attributes to change. A new password needs a sign-in of the last ten minutes and ends all sessions. */
export class PatchUserDto extends PartialType(CreateUserDto, { skipNullProperties: false }) {}

/** What a collection of users can be asked for. */
export class ListUsersQuery extends ListQueryOf(UserDto, { sortable: User, statuses: UserStatus }) {}

/** Private attributes are undefined, and so not sent, unless the caller may see them. */
export function toUserDto(user: User, caller: Caller | undefined): UserDto {
  const whole = seesAll(user, caller);
  return resourceOf(user, {
    username: user.username,
    email: whole ? user.email : undefined,
    name: user.name,
    image: user.image,
    status: user.status,
    roles: whole ? user.roles : undefined,
    [VIEW]: whole ? undefined : 'public',
  });
}

export function seesAll(user: User, caller: Caller | undefined): boolean {
  return caller?.id === user.id || isAdmin(caller);
}
