import { Body, Controller, Delete, Get, HttpStatus, Patch, Post, Put, Query } from '@nestjs/common';
import { CurrentUser, Public, Roles } from '../../auth/access.decorators';
import { type Caller, Role } from '../../auth/caller';
import { ApiItem, ApiNothing, ApiPage, ApiResource, Raises } from '../../conventions/docs/api.decorators';
import type { Page } from '../../conventions/lists/page';
import { IdParam } from '../../conventions/requests/id.pipe';
import { CreateUserDto, ListUsersQuery, PatchUserDto, ReplaceUserDto, toUserDto, UserDto } from './user.dto';
import { UsersService } from './users.service';

@ApiResource('Users')
@Controller('users')
export class UsersController {
  constructor(private readonly users: UsersService) {}

  /** Lists users. `email` and `roles` are there, and can be sorted by and searched, for administrators. */
  @Get()
  @Roles(Role.USER)
  @ApiPage(UserDto)
  async list(@Query() query: ListUsersQuery, @CurrentUser() caller: Caller): Promise<Page<object>> {
    return (await this.users.list(query, caller)).map((user) => toUserDto(user, caller));
  }

  /** Reads the user who asks. */
  @Get('profile')
  @Roles(Role.USER)
  @ApiItem(UserDto)
  async profile(@CurrentUser() caller: Caller): Promise<UserDto> {
    return toUserDto(await this.users.get(caller.id), caller);
  }

  /** Reads one user. */
  @Get(':id')
  @Roles(Role.USER)
  @ApiItem(UserDto)
  async get(@IdParam() id: number, @CurrentUser() caller: Caller): Promise<UserDto> {
    return toUserDto(await this.users.get(id), caller);
  }

  /** Registers a user. Only an administrator may set `status` and `roles`. */
  @Post()
  @Public()
  @ApiItem(UserDto, HttpStatus.CREATED)
  @Raises('FORBIDDEN', 'CONFLICT')
  async create(@Body() input: CreateUserDto, @CurrentUser() caller?: Caller): Promise<UserDto> {
    const user = await this.users.create(input, caller);
    return toUserDto(user, caller ?? this.users.asCaller(user));
  }

  /** Replaces a user: what is left out takes its default, but for the password. */
  @Put(':id')
  @Roles(Role.USER)
  @ApiItem(UserDto)
  @Raises('CONFLICT')
  async replace(@IdParam() id: number, @Body() input: ReplaceUserDto, @CurrentUser() caller: Caller): Promise<UserDto> {
    return toUserDto(await this.users.replace(id, input, caller), caller);
  }

  /** Changes the named attributes of a user. */
  @Patch(':id')
  @Roles(Role.USER)
  @ApiItem(UserDto)
  @Raises('CONFLICT')
  async update(@IdParam() id: number, @Body() changes: PatchUserDto, @CurrentUser() caller: Caller): Promise<UserDto> {
    return toUserDto(await this.users.update(id, changes, caller), caller);
  }

  /** Hides a user and frees its names. */
  @Delete(':id')
  @Roles(Role.USER)
  @ApiNothing()
  remove(@IdParam() id: number, @CurrentUser() caller: Caller): Promise<void> {
    return this.users.remove(id, caller);
  }
}
