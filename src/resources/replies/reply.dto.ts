import { PartialType, PickType } from '@nestjs/swagger';
import {
  Id,
  IdParameter,
  IdsParameter,
  includable,
  Includes,
  ItemQueryOf,
  ListQueryOf,
  ResourceDto,
  resourceOf,
  Text,
} from '../../platform';
import { includedComment } from '../comments/comment.dto';
import { includedUser } from '../users/included-user';
import { Reply } from './reply.entity';

/** The attributes of a reply that callers may read. */
@Includes({ user: includedUser, comment: includedComment })
export class ReplyDto extends ResourceDto {
  /** The id of the comment. @example 1 */
  @Id()
  comment_id: number;

  /** The author: the id of a user. @example 2 */
  @Id()
  user_id: number;

  /** The text. It may have several lines. @example "If the rules of harmony can be written down, yes." */
  @Text({ min: 1, max: 5_000, multiline: true })
  content: string;
}

/** The body of a new reply. */
export class CreateReplyDto extends PickType(ReplyDto, ['comment_id', 'content']) {}

/** A complete reply. Its comment stays. */
export class ReplaceReplyDto extends PickType(ReplyDto, ['content']) {}

/** The attributes to change. */
export class PatchReplyDto extends PartialType(ReplaceReplyDto, { skipNullProperties: false }) {}

/** What a collection of replies can be asked for. */
export class ListRepliesQuery extends ListQueryOf(ReplyDto, { sortable: Reply }) {
  @IdsParameter('Only the replies to these comments.')
  commentId?: number[];

  @IdsParameter('Only the replies by these users.')
  userId?: number[];
}

/** The query of a single reply. */
export class GetReplyQuery extends ItemQueryOf(ReplyDto) {
  @IdParameter('The id of the comment. A reply to another comment is not found.')
  commentId?: number;
}

export const toReplyDto = (reply: Reply): ReplyDto =>
  resourceOf(reply, {
    comment_id: reply.comment_id,
    user_id: reply.user_id,
    content: reply.content,
  });

export const includedReply = includable(Reply, ReplyDto, {
  readers: 'everyone',
  toDto: toReplyDto,
  belongsTo: { rows: includedComment, as: 'replies', by: 'comment_id', list: (id) => `replies?commentId=${id}` },
});
