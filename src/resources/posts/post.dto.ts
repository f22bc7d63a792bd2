import { PartialType, PickType } from '@nestjs/swagger';
import { Id, ListQueryOf, OneOf, ResourceDto, resourceOf, Text } from '../../platform';
import { type Post, PostStatus } from './post.entity';

/** What a client may read of a post. */
export class PostDto extends ResourceDto {
  /**
   * The author: the id of a user.
   * @example 2
   */
  @Id()
  user_id: number;

  /**
   * The title.
   * @example "Notes on the Analytical Engine"
   */
  @Text({ min: 1, max: 200 })
  title: string;

  /**
   * The text. It may have several lines.
   * @example "It has no pretensions to originate anything."
   */
  @Text({ min: 1, max: 50_000, multiline: true })
  content: string;

  /**
   * Only the author and administrators see a draft.
   * @example PUBLISHED
   */
  @OneOf(PostStatus)
  status: PostStatus;
}

/** What a new post is made of; a complete post, for a replacement. */
export class CreatePostDto extends PickType(PostDto, ['title', 'content']) {
  /**
   * Only the author and administrators see a draft.
   * @example PUBLISHED
   */
  @OneOf(PostStatus, { default: PostStatus.PUBLISHED })
  status?: PostStatus;
}

/** The attributes to change. */
export class PatchPostDto extends PartialType(CreatePostDto, { skipNullProperties: false }) {}

/** What a collection of posts can be asked for. */
export class ListPostsQuery extends ListQueryOf(PostDto, {
  sortable: ['id', 'user_id', 'title', 'status', 'created_at', 'updated_at'],
  statuses: PostStatus,
}) {}

export const toPostDto = (post: Post): PostDto =>
  resourceOf(post, {
    user_id: post.user_id,
    title: post.title,
    content: post.content,
    status: post.status,
  });
