import { Body, Controller, Delete, Get, Patch, Put, Query } from '@nestjs/common';
import {
  Answers,
  AnswersNothing,
  AnswersPage,
  ApiResource,
  type Caller,
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
import { CommentDto, CreateCommentDto, ListAllCommentsQuery, PatchCommentDto, toCommentDto } from './comment.dto';
import { CommentsService } from './comments.service';

@ApiResource('Comments')
@Controller('comments')
export class CommentsController {
  constructor(private readonly comments: CommentsService) {}

  /** Lists comments. */
  @Get()
  @Public()
  @AnswersPage(CommentDto)
  async list(@Query() query: ListAllCommentsQuery, @CurrentUser() caller?: Caller): Promise<Page<object>> {
    return (await this.comments.listAll(query, caller)).map(toCommentDto);
  }

  /** Reads one comment. */
  @Get(':id')
  @Public()
  @Answers(CommentDto)
  async get(@IdParam() id: number, @CurrentUser() caller?: Caller): Promise<CommentDto> {
    return toCommentDto(await this.comments.get(id, caller));
  }

  /**
   * Replaces a comment.
   * @remarks Only its author and administrators may do this.
   */
  @Put(':id')
  @Roles(Role.USER)
  @Answers(CommentDto)
  @Raises(notTheOwner())
  async replace(
    @IdParam() id: number,
    @Body() input: CreateCommentDto,
    @CurrentUser() caller: Caller,
    @IfMatch() expected?: Precondition,
  ): Promise<CommentDto> {
    return toCommentDto(await this.comments.update(id, input, caller, expected));
  }

  /**
   * Changes a comment.
   * @remarks Only its author and administrators may do this.
   */
  @Patch(':id')
  @Roles(Role.USER)
  @Answers(CommentDto)
  @Raises(notTheOwner())
  async update(
    @IdParam() id: number,
    @Body() changes: PatchCommentDto,
    @CurrentUser() caller: Caller,
    @IfMatch() expected?: Precondition,
  ): Promise<CommentDto> {
    return toCommentDto(await this.comments.update(id, changes, caller, expected));
  }

  /**
   * Deletes a comment.
   * @remarks Its replies are deleted too. Only its author and administrators may do this.
   */
  @Delete(':id')
  @Roles(Role.USER)
  @AnswersNothing()
  @Raises(notTheOwner())
  remove(@IdParam() id: number, @CurrentUser() caller: Caller, @IfMatch() expected?: Precondition): Promise<void> {
    return this.comments.remove(id, caller, expected);
  }
}
