import { Body, Controller, Delete, Get, Patch, Post, Put, Query } from '@nestjs/common';
import {
  alreadyTaken,
  Answers,
  AnswersNothing,
  AnswersPage,
  ApiExampleBody,
  ApiResource,
  BodyLimit,
  type Caller,
  Creates,
  CurrentUser,
  IdParam,
  IfMatch,
  kibibytes,
  notTheOwner,
  type Page,
  type Precondition,
  Prefetches,
  Public,
  Raises,
  Role,
  Roles,
} from '../../platform';
import { addressIsElsewhere, signsInElsewhere } from '../../platform/accounts';
import { lastAdministrator } from './administrators';
import { tooManyNames, tooManyRegistrations } from './name-claims';
import { signInTooOld } from './recent-sign-in';
import { RegistrationPipe, registrationClosed } from './registration.pipe';
import { CreateUserDto, ListUsersQuery, PatchUserDto, ReplaceUserDto, toUserDto, UserDto } from './user.dto';
import { User } from './user.entity';
import { onlyAdministrators, UsersService } from './users.service';

const RaisesOfAChange = () =>
  Raises(
    notTheOwner(),
    onlyAdministrators(),
    signsInElsewhere(),
    addressIsElsewhere(),
    signInTooOld(),
    lastAdministrator('roles'),
    alreadyTaken('username'),
    alreadyTaken('email'),
    alreadyTaken('username', 'email'),
    tooManyNames(600),
  );

@ApiResource('Users', 'People who sign in.')
@Controller('users')
export class UsersController {
  constructor(private readonly users: UsersService) {}

  /**
   * Lists users.
   * @remarks `search` looks through `username` and `name`. Users see only their own `email` and `roles`. Therefore only
   * administrators may search and sort by `email`, and name `email` or `roles` in `fields`.
   */
  @Get()
  @Roles(Role.USER)
  @AnswersPage(UserDto)
  async list(@Query() query: ListUsersQuery, @CurrentUser() caller: Caller): Promise<Page<object>> {
    return (await this.users.list(query, caller)).map((user) => toUserDto(user, caller));
  }

  /**
   * Reads the caller's own user.
   * @remarks The answer has `email` and `roles`.
   */
  @Get('profile')
  @Roles(Role.USER)
  @Answers(UserDto)
  async profile(@CurrentUser() caller: Caller): Promise<UserDto> {
    return toUserDto(await this.users.get(caller.id), caller);
  }

  /**
   * Reads one user.
   * @remarks Only the user itself and administrators get `email` and `roles`.
   */
  @Get(':id')
  @Roles(Role.USER)
  @Answers(UserDto)
  @Prefetches(User)
  async get(@IdParam() id: number, @CurrentUser() caller: Caller): Promise<UserDto> {
    return toUserDto(await this.users.get(id), caller);
  }

  /**
   * Registers a user.
   * @remarks Only an administrator may set `status` and `roles`. To give roles besides `USER`, the administrator must have
   * signed in within the last ten minutes. When registration is closed, only an administrator may register a user.
   */
  @Post()
  @Public()
  @BodyLimit(kibibytes(16))
  @Creates(UserDto)
  @Raises(
    onlyAdministrators(),
    signInTooOld(),
    registrationClosed(),
    alreadyTaken('username'),
    alreadyTaken('email'),
    alreadyTaken('username', 'email'),
    tooManyRegistrations(42),
  )
  async create(@Body(RegistrationPipe) input: CreateUserDto, @CurrentUser() caller?: Caller): Promise<UserDto> {
    const user = await this.users.create(input, caller);
    return toUserDto(user, caller ?? this.users.asCaller(user));
  }

  /**
   * Replaces a user.
   * @remarks A `name` that is left out becomes null; `password`, `status` and `roles` stay. A change of the username, the
   * e-mail address or the password, another role, and the end of a suspension need a sign-in within the last ten minutes.
   * A new password ends all sessions. Users may replace themselves, administrators any user. Only administrators may set
   * `status` and `roles`. The last active administrator can't lose that role or be suspended.
   */
  @Put(':id')
  @Roles(Role.USER)
  @Answers(UserDto)
  @ApiExampleBody({ username: 'ada', email: 'ada@example.com', name: 'Augusta Ada King' })
  @RaisesOfAChange()
  async replace(
    @IdParam() id: number,
    @Body() input: ReplaceUserDto,
    @CurrentUser() caller: Caller,
    @IfMatch() expected?: Precondition,
  ): Promise<UserDto> {
    return toUserDto(await this.users.update(id, input, caller, expected), caller);
  }

  /**
   * Changes some attributes of a user.
   * @remarks A change of the username, the e-mail address or the password, another role, and the end of a suspension need
   * a sign-in within the last ten minutes. A new password ends all sessions. Users may change themselves, administrators
   * any user. Only administrators may set `status` and `roles`. The last active administrator can't lose that role or be
   * suspended.
   */
  @Patch(':id')
  @Roles(Role.USER)
  @Answers(UserDto)
  @ApiExampleBody({ name: 'Augusta Ada King' })
  @RaisesOfAChange()
  async update(
    @IdParam() id: number,
    @Body() changes: PatchUserDto,
    @CurrentUser() caller: Caller,
    @IfMatch() expected?: Precondition,
  ): Promise<UserDto> {
    return toUserDto(await this.users.update(id, changes, caller, expected), caller);
  }

  /**
   * Deletes a user.
   * @remarks The username and the e-mail address become free; posts, comments, replies and orders of the user stay. Users
   * may delete themselves, administrators any user, both after a sign-in within the last ten minutes. The last active
   * administrator can't be deleted.
   */
  @Delete(':id')
  @Roles(Role.USER)
  @AnswersNothing()
  @Raises(notTheOwner(), signInTooOld(), lastAdministrator('id'))
  remove(@IdParam() id: number, @CurrentUser() caller: Caller, @IfMatch() expected?: Precondition): Promise<void> {
    return this.users.remove(id, caller, expected);
  }
}
