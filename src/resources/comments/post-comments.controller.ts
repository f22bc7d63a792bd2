import { Body, Controller, Get, Post, Query } from '@nestjs/common';
import {
  AnswersPage,
  ApiResource,
  type Caller,
  Creates,
  CurrentUser,
  IdParam,
  type Page,
  Public,
  Role,
  Roles,
} from '../../platform';
import { CommentDto, CreateCommentDto, ListCommentsQuery, toCommentDto } from './comment.dto';
import { CommentsService } from './comments.service';

@ApiResource('Comments', 'Comments on posts.')
@Controller('posts/:id/comments')
export class PostCommentsController {
  constructor(private readonly comments: CommentsService) {}

  /** Lists the comments of a post. */
  @Get()
  @Public()
  @AnswersPage(CommentDto)
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
  @Creates(CommentDto)
  async create(
    @IdParam() postId: number,
    @Body() input: CreateCommentDto,
    @CurrentUser() caller: Caller,
  ): Promise<CommentDto> {
    return toCommentDto(await this.comments.create(postId, input, caller));
  }
}
