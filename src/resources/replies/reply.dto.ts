import { PartialType, PickType } from '@nestjs/swagger';
import { ListQueryOf } from '../../conventions/lists/list-query';
import { Id, Text } from '../../conventions/requests/attributes';
import { IdParameter } from '../../conventions/requests/query-parameters';
import { ItemQueryOf } from '../../conventions/requests/item-query';
import { ResourceDto, resourceOf } from '../../conventions/responses/resource.dto';
import type { Reply } from './reply.entity';

/** What a client may read of a reply. */
export class ReplyDto extends ResourceDto {
  /**
   * The comment that it answers.
   * @example 1
   */
  @Id()
  comment_id: number;

  /**
   * Who wrote it.
   * @example 2
   */
  @Id()
  user_id: number;

  /**
   * The text; may have several lines.
   * @example "If the rules of harmony can be written down, yes."
   */
  @Text({ min: 1, max: 5_000, multiline: true })
  content: string;
}

/** What a new reply is made of. */
export class CreateReplyDto extends PickType(ReplyDto, ['comment_id', 'content']) {}

/** The attributes to change. */
export class PatchReplyDto extends PartialType(PickType(ReplyDto, ['content']), { skipNullProperties: false }) {}

/** What a collection of replies can be asked for. */
export class ListRepliesQuery extends ListQueryOf(ReplyDto, {
  sortable: ['id', 'comment_id', 'user_id', 'created_at', 'updated_at'],
}) {
  @IdParameter('Only the replies to this comment.')
  commentId?: number;
}

/** What a single reply can be asked for. */
export class GetReplyQuery extends ItemQueryOf(ReplyDto) {
  @IdParameter('The comment that it answers; a reply to another one is not found.')
  commentId?: number;
}

export const toReplyDto = (reply: Reply): ReplyDto =>
  resourceOf(reply, {
    comment_id: reply.comment_id,
    user_id: reply.user_id,
    content: reply.content,
  });
