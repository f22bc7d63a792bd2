import { Body, Controller, Get, HttpStatus, Post, Query } from '@nestjs/common';
import { CurrentUser, Public, Roles } from '../../auth/access.decorators';
import { type Caller, Role } from '../../auth/caller';
import { ApiItem, ApiPage, ApiResource } from '../../conventions/docs/api.decorators';
import type { Page } from '../../conventions/lists/page';
import { IdParam } from '../../conventions/requests/id.pipe';
import { CommentDto, CreateCommentDto, ListCommentsQuery, toCommentDto } from './comment.dto';
import { CommentsService } from './comments.service';

@ApiResource('Comments', 'What users say about posts.')
@Controller('posts/:id/comments')
export class PostCommentsController {
  constructor(private readonly comments: CommentsService) {}

  /**
   * Lists the comments of a post.
   * @remarks `search` looks through `content`.
   */
  @Get()
  @Public()
  @ApiPage(CommentDto)
  async list(
    @IdParam() postId: number,
    @Query() query: ListCommentsQuery,
    @CurrentUser() caller?: Caller,
  ): Promise<Page<object>> {
    return (await this.comments.list(postId, query, caller)).map(toCommentDto);
  }

  /** Comments on a post. */
  @Post()
  @Roles(Role.USER)
  @ApiItem(CommentDto, HttpStatus.CREATED)
  async create(
    @IdParam() postId: number,
    @Body() input: CreateCommentDto,
    @CurrentUser() caller: Caller,
  ): Promise<CommentDto> {
    return toCommentDto(await this.comments.create(postId, input, caller));
  }
}
