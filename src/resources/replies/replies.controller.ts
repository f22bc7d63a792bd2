import { Body, Controller, Delete, Get, HttpStatus, Patch, Post, Query } from '@nestjs/common';
import { CurrentUser, Public, Roles } from '../../auth/access.decorators';
import { notTheOwner } from '../../auth/auth-errors';
import { type Caller, Role } from '../../auth/caller';
import { ApiItem, ApiNothing, ApiPage, ApiResource, Raises } from '../../conventions/docs/api.decorators';
import type { Page } from '../../conventions/lists/page';
import { IdParam } from '../../conventions/requests/id.pipe';
import { RepliesService } from './replies.service';
import { CreateReplyDto, GetReplyQuery, ListRepliesQuery, PatchReplyDto, ReplyDto, toReplyDto } from './reply.dto';

@ApiResource('Replies', 'What users answer to comments.')
@Controller('replies')
export class RepliesController {
  constructor(private readonly replies: RepliesService) {}

  /**
   * Lists replies.
   * @remarks `search` looks through `content`.
   */
  @Get()
  @Public()
  @ApiPage(ReplyDto)
  async list(@Query() query: ListRepliesQuery, @CurrentUser() caller?: Caller): Promise<Page<object>> {
    return (await this.replies.list(query, caller)).map(toReplyDto);
  }

  /** Reads one reply. */
  @Get(':id')
  @Public()
  @ApiItem(ReplyDto)
  async get(@IdParam() id: number, @Query() query: GetReplyQuery, @CurrentUser() caller?: Caller): Promise<ReplyDto> {
    return toReplyDto(await this.replies.get(id, query, caller));
  }

  /** Replies to a comment. */
  @Post()
  @Roles(Role.USER)
  @ApiItem(ReplyDto, HttpStatus.CREATED)
  async create(@Body() input: CreateReplyDto, @CurrentUser() caller: Caller): Promise<ReplyDto> {
    return toReplyDto(await this.replies.create(input, caller));
  }

  /**
   * Changes a reply.
   * @remarks For its author and administrators.
   */
  @Patch(':id')
  @Roles(Role.USER)
  @ApiItem(ReplyDto)
  @Raises(notTheOwner())
  async update(
    @IdParam() id: number,
    @Body() changes: PatchReplyDto,
    @CurrentUser() caller: Caller,
  ): Promise<ReplyDto> {
    return toReplyDto(await this.replies.update(id, changes, caller));
  }

  /**
   * Deletes a reply.
   * @remarks For its author and administrators.
   */
  @Delete(':id')
  @Roles(Role.USER)
  @ApiNothing()
  @Raises(notTheOwner())
  remove(@IdParam() id: number, @CurrentUser() caller: Caller): Promise<void> {
    return this.replies.remove(id, caller);
  }
}
