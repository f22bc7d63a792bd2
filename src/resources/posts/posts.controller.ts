import { Body, Controller, Delete, Get, Patch, Post, Put, Query } from '@nestjs/common';
import {
  Answers,
  AnswersNothing,
  AnswersPage,
  ApiExampleBody,
  ApiResource,
  type Caller,
  Creates,
  CurrentUser,
  IdParam,
  IfMatch,
  notTheOwner,
  type Page,
  type Precondition,
  Public,
  Raises,
  Role,
  Roles,
} from '../../platform';
import { CreatePostDto, ListPostsQuery, PatchPostDto, PostDto, toPostDto } from './post.dto';
import { PostsService } from './posts.service';

@ApiResource('Posts', 'Posts of users. Only the author and administrators see a draft.')
@Controller('posts')
export class PostsController {
  constructor(private readonly posts: PostsService) {}

  /** Lists posts. */
  @Get()
  @Public()
  @AnswersPage(PostDto)
  async list(@Query() query: ListPostsQuery, @CurrentUser() caller?: Caller): Promise<Page<object>> {
    return (await this.posts.list(query, caller)).map(toPostDto);
  }

  /** Reads one post. */
  @Get(':id')
  @Public()
  @Answers(PostDto)
  async get(@IdParam() id: number, @CurrentUser() caller?: Caller): Promise<PostDto> {
    return toPostDto(await this.posts.get(id, caller));
  }

  /** Writes a post. */
  @Post()
  @Roles(Role.USER)
  @Creates(PostDto)
  async create(@Body() input: CreatePostDto, @CurrentUser() caller: Caller): Promise<PostDto> {
    return toPostDto(await this.posts.create(input, caller.id));
  }

  /**
   * Replaces a post.
   * @remarks Attributes that are left out take their default. Only its author and administrators may do this.
   */
  @Put(':id')
  @Roles(Role.USER)
  @Answers(PostDto)
  @Raises(notTheOwner())
  async replace(
    @IdParam() id: number,
    @Body() input: CreatePostDto,
    @CurrentUser() caller: Caller,
    @IfMatch() expected?: Precondition,
  ): Promise<PostDto> {
    return toPostDto(await this.posts.update(id, input, caller, expected));
  }

  /**
   * Changes some attributes of a post.
   * @remarks Only its author and administrators may do this.
   */
  @Patch(':id')
  @Roles(Role.USER)
  @Answers(PostDto)
  @ApiExampleBody({ title: 'More notes on the Analytical Engine' })
  @Raises(notTheOwner())
  async update(
    @IdParam() id: number,
    @Body() changes: PatchPostDto,
    @CurrentUser() caller: Caller,
    @IfMatch() expected?: Precondition,
  ): Promise<PostDto> {
    return toPostDto(await this.posts.update(id, changes, caller, expected));
  }

  /**
   * Deletes a post.
   * @remarks Its comments and their replies are deleted too. Only its author and administrators may do this.
   */
  @Delete(':id')
  @Roles(Role.USER)
  @AnswersNothing()
  @Raises(notTheOwner())
  remove(@IdParam() id: number, @CurrentUser() caller: Caller, @IfMatch() expected?: Precondition): Promise<void> {
    return this.posts.remove(id, caller, expected);
  }
}
