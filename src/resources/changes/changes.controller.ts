import { Controller, Get, Headers, Query, Req } from '@nestjs/common';
import type { Request } from 'express';
import {
  AnswersWhole,
  ApiResource,
  type Caller,
  CurrentUser,
  type EventStream,
  LeadsReads,
  Produces,
  Raises,
  Role,
  Roles,
  tooManyListeners,
} from '../../platform';
import { ChangesDto, ChangesQuery } from './change.dto';
import { changesExpired } from './changes-errors';
import { ChangesService } from './changes.service';
import { ApiChangeStream, EVENTS } from './stream-docs';

@ApiResource('Changes', 'What has happened since. For those who mirror the data.')
@Controller('changes')
@Roles(Role.USER)
export class ChangesController {
  constructor(private readonly changes: ChangesService) {}

  /**
   * Reads what has changed, or follows it.
   * @remarks The changes of what the caller may read, or could read until then, each in its order: a change comes after all
   * that it follows. None ever comes before a mark that was given. Start with `cursor=now`, read the collections, and then
   * come back with `next` of each answer. A mark that is older than seven days, or what the operator has set, is 410.
   *
   * With `wait=30` the answer comes as soon as there is a change, or after that time.
   *
   * With `Accept: text/event-stream` changes come as they are made (Server-Sent Events), after `Last-Event-ID` or `cursor`, by
   * default from now on. The `id` of an event is the mark after it. A stream ends when its token expires, and within a second
   * when the session ends; come back with the last id.
   */
  @Get()
  @Produces('application/json', EVENTS)
  @AnswersWhole(ChangesDto)
  @ApiChangeStream()
  @LeadsReads()
  @Raises(changesExpired(), tooManyListeners())
  read(
    @Query() query: ChangesQuery,
    @CurrentUser() caller: Caller,
    @Req() request: Request,
    @Headers('Last-Event-ID') lastId?: string,
  ): Promise<ChangesDto | EventStream> {
    if (request.produces === EVENTS) return this.changes.follow(query, lastId, caller, request);
    return this.changes.read(query, caller, request);
  }
}
