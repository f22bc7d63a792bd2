import { IntersectionType, OmitType, PartialType, PickType } from '@nestjs/swagger';
import { includable } from '../../platform';
import { seesAll, toUserDto, UserDto } from './user.dto';
import { User } from './user.entity';

const PUBLIC = ['id', 'username', 'name', 'image'] as const;

/** A user where another resource includes it. The user itself and administrators get all attributes. */
export class IncludedUserDto extends IntersectionType(
  PickType(UserDto, PUBLIC),
  PartialType(OmitType(UserDto, PUBLIC), { skipNullProperties: false }),
) {}

/** Everyone may see the author of a text that everyone may read. */
export const includedUser = includable(User, UserDto, {
  readers: 'everyone',
  shown: IncludedUserDto,
  toDto: (user, caller) =>
    seesAll(user, caller)
      ? toUserDto(user, caller)
      : { id: user.id, username: user.username, name: user.name, image: user.image },
  toItem: toUserDto,
});
