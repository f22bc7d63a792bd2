import { Body, Controller, Delete, Get, Patch, Post, Put, Query } from '@nestjs/common';
import {
  Answers,
  AnswersNothing,
  AnswersPage,
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
import { RepliesService } from './replies.service';
import {
  CreateReplyDto,
  GetReplyQuery,
  ListRepliesQuery,
  PatchReplyDto,
  ReplaceReplyDto,
  ReplyDto,
  toReplyDto,
} from './reply.dto';

@ApiResource('Replies', 'Replies to comments.')
@Controller('replies')
export class RepliesController {
  constructor(private readonly replies: RepliesService) {}

  /** Lists replies. */
  @Get()
  @Public()
  @AnswersPage(ReplyDto)
  async list(@Query() query: ListRepliesQuery, @CurrentUser() caller?: Caller): Promise<Page<object>> {
    return (await this.replies.list(query, caller)).map(toReplyDto);
  }

  /** Reads one reply. */
  @Get(':id')
  @Public()
  @Answers(ReplyDto)
  async get(@IdParam() id: number, @Query() query: GetReplyQuery, @CurrentUser() caller?: Caller): Promise<ReplyDto> {
    return toReplyDto(await this.replies.get(id, query, caller));
  }

  /** Replies to a comment. */
  @Post()
  @Roles(Role.USER)
  @Creates(ReplyDto)
  async create(@Body() input: CreateReplyDto, @CurrentUser() caller: Caller): Promise<ReplyDto> {
    return toReplyDto(await this.replies.create(input, caller));
  }

  /**
   * Replaces a reply.
   * @remarks For its author and administrators.
   */
  @Put(':id')
  @Roles(Role.USER)
  @Answers(ReplyDto)
  @Raises(notTheOwner())
  async replace(
    @IdParam() id: number,
    @Body() input: ReplaceReplyDto,
    @CurrentUser() caller: Caller,
    @IfMatch() expected?: Precondition,
  ): Promise<ReplyDto> {
    return toReplyDto(await this.replies.update(id, input, caller, expected));
  }

  /**
   * Changes a reply.
   * @remarks For its author and administrators.
   */
  @Patch(':id')
  @Roles(Role.USER)
  @Answers(ReplyDto)
  @Raises(notTheOwner())
  async update(
    @IdParam() id: number,
    @Body() changes: PatchReplyDto,
    @CurrentUser() caller: Caller,
    @IfMatch() expected?: Precondition,
  ): Promise<ReplyDto> {
    return toReplyDto(await this.replies.update(id, changes, caller, expected));
  }

  /**
   * Deletes a reply.
   * @remarks For its author and administrators.
   */
  @Delete(':id')
  @Roles(Role.USER)
  @AnswersNothing()
  @Raises(notTheOwner())
  remove(@IdParam() id: number, @CurrentUser() caller: Caller, @IfMatch() expected?: Precondition): Promise<void> {
    return this.replies.remove(id, caller, expected);
  }
}
