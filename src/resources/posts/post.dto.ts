import { PartialType } from '@nestjs/swagger';
import {
  Id,
  IdsParameter,
  includable,
  Includes,
  InputOf,
  ListQueryOf,
  OneOf,
  ResourceDto,
  resourceOf,
  Text,
} from '../../platform';
import { includedUser } from '../users/included-user';
import { Post, PostStatus } from './post.entity';
import { onlyVisible } from './visible-posts';

/** The attributes of a post that callers may read. */
@Includes({ user: includedUser })
export class PostDto extends ResourceDto {
  /** The author: the id of a user. @example 2 */
  @Id()
  user_id: number;

  /** The title. @example "Notes on the Analytical Engine" */
  @Text({ min: 1, max: 200 })
  title: string;

  /** The text. It may have several lines. @example "It has no pretensions to originate anything." */
  @Text({ min: 1, max: 50_000, multiline: true })
  content: string;

  /** Only the author and administrators see a draft. @example PUBLISHED */
  @OneOf(PostStatus)
  status: PostStatus;
}

/** What a new post is made of; a complete post, for a replacement. */
export class CreatePostDto extends InputOf(PostDto, {
  required: ['title', 'content'],
  defaults: { status: PostStatus.PUBLISHED },
}) {}

/** The attributes to change. */
export class PatchPostDto extends PartialType(CreatePostDto, { skipNullProperties: false }) {}

/** What the posts of a user can be asked for. */
export class ListUserPostsQuery extends ListQueryOf(PostDto, { sortable: Post, statuses: PostStatus }) {}

/** What a collection of posts can be asked for. */
export class ListPostsQuery extends ListUserPostsQuery {
  @IdsParameter('Only the posts of these users.')
  userId?: number[];
}

export const toPostDto = (post: Post): PostDto =>
  resourceOf(post, {
    user_id: post.user_id,
    title: post.title,
    content: post.content,
    status: post.status,
  });

export const includedPost = includable(Post, PostDto, {
  readers: 'everyone',
  toDto: toPostDto,
  where: (builder, caller, alias) => onlyVisible(builder, alias, caller),
});
