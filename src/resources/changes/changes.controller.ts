import { Controller, Get, Query, Req } from '@nestjs/common';
import type { Request } from 'express';
import { AnswersWhole, ApiResource, type Caller, CurrentUser, Raises, ReadsPrimary, Role, Roles } from '../../platform';
import { ChangesDto, ChangesQuery } from './change.dto';
import { changesExpired, ChangesService } from './changes.service';

@ApiResource('Changes', 'What has happened since. For those who mirror the data.')
@Controller('changes')
@Roles(Role.USER)
export class ChangesController {
  constructor(private readonly changes: ChangesService) {}

  /**
   * Reads what has changed.
   * @remarks The changes of what the caller may read, or could read until then, each in its order: a change comes after all
   * that it follows. None ever comes before a mark that was given. Start with `cursor=now`, read the collections, and then
   * come back with `next` of each answer. A mark that is older than seven days, or what the operator has set, is 410.
   */
  @Get()
  @AnswersWhole(ChangesDto)
  @ReadsPrimary()
  @Raises(changesExpired())
  read(@Query() query: ChangesQuery, @CurrentUser() caller: Caller, @Req() request: Request): Promise<ChangesDto> {
    return this.changes.read(query, caller, request);
  }
}
