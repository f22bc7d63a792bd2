import { Body, Controller, Get, Post, Query } from '@nestjs/common';
import {
  Answers,
  AnswersPage,
  ApiResource,
  type Caller,
  Creates,
  CurrentUser,
  IdParam,
  notTheOwner,
  type Page,
  Public,
  Raises,
  Role,
  Roles,
} from '../../platform';
import { CreatePostDto, ListUserPostsQuery, PostDto, toPostDto } from './post.dto';
import { PostsService } from './posts.service';

@ApiResource('Posts')
@Controller('users/:userId/posts')
export class UserPostsController {
  constructor(private readonly posts: PostsService) {}

  /** Lists the posts of a user. */
  @Get()
  @Public()
  @AnswersPage(PostDto)
  async list(
    @IdParam('userId') userId: number,
    @Query() query: ListUserPostsQuery,
    @CurrentUser() caller?: Caller,
  ): Promise<Page<object>> {
    return (await this.posts.listOf(userId, query, caller)).map(toPostDto);
  }

  /**
   * Reads one post of a user.
   * @remarks A post of another user is not found (404).
   */
  @Get(':postId')
  @Public()
  @Answers(PostDto)
  async get(
    @IdParam('userId') userId: number,
    @IdParam('postId') postId: number,
    @CurrentUser() caller?: Caller,
  ): Promise<PostDto> {
    return toPostDto(await this.posts.getOf(userId, postId, caller));
  }

  /**
   * Writes a post as a user.
   * @remarks Users write as themselves, administrators as any user.
   */
  @Post()
  @Roles(Role.USER)
  @Creates(PostDto)
  @Raises(notTheOwner())
  async create(
    @IdParam('userId') userId: number,
    @Body() input: CreatePostDto,
    @CurrentUser() caller: Caller,
  ): Promise<PostDto> {
    return toPostDto(await this.posts.createFor(userId, input, caller));
  }
}
