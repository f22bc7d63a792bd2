import { PartialType } from '@nestjs/swagger';
import {
  Id,
  IdsParameter,
  includable,
  Includes,
  InputOf,
  ListQueryOf,
  ResourceDto,
  resourceOf,
  Text,
} from '../../platform';
import { includedPost } from '../posts/post.dto';
import { includedUser } from '../users/included-user';
import { Comment } from './comment.entity';

/** The attributes of a comment that callers may read. */
@Includes({ post: includedPost, user: includedUser })
export class CommentDto extends ResourceDto {
  /** The id of the post. @example 1 */
  @Id()
  post_id: number;

  /** The author: the id of a user. @example 3 */
  @Id()
  user_id: number;

  /** The text. It may have several lines. @example "Could it compose music, then?" */
  @Text({ min: 1, max: 5000, multiline: true })
  content: string;
}

/** The body of a new comment. */
export class CreateCommentDto extends InputOf(CommentDto, {
  required: ['content'],
  defaults: {},
}) {}

/** The attributes to change. */
export class PatchCommentDto extends PartialType(CreateCommentDto, { skipNullProperties: false }) {}

/** What a collection of comments can be asked for. */
export class ListCommentsQuery extends ListQueryOf(CommentDto, {
  sortable: Comment,
  filterable: ['created_at', 'updated_at'],
}) {}

/** What the list of all comments can be asked for. */
export class ListAllCommentsQuery extends ListCommentsQuery {
  @IdsParameter('Only the comments on these posts.')
  postId?: number[];

  @IdsParameter('Only the comments by these users.')
  userId?: number[];
}

export const toCommentDto = (comment: Comment): CommentDto =>
  resourceOf(comment, {
    post_id: comment.post_id,
    user_id: comment.user_id,
    content: comment.content,
  });

export const includedComment = includable(Comment, CommentDto, {
  readers: 'everyone',
  toDto: toCommentDto,
  belongsTo: { rows: includedPost, as: 'comments', by: 'post_id', list: (id) => `posts/${id}/comments` },
});
