import { Controller, Get, Query } from '@nestjs/common';
import { AnswersPage, ApiResource, type Page, Role, Roles } from '../../platform';
import { AuditEventDto, ListAuditEventsQuery, toAuditEventDto } from './audit-event.dto';
import { AuditEventsService } from './audit-events.service';

@ApiResource('Audit events', 'Who changed what, and what else concerns security. Nothing changes or deletes them.')
@Controller('audit-events')
@Roles(Role.ADMIN)
export class AuditEventsController {
  constructor(private readonly events: AuditEventsService) {}

  /**
   * Lists audit events.
   * @remarks `order=desc` begins with the latest. A change of a resource and its event are one transaction. The operator says
   * how long events are kept.
   */
  @Get()
  @AnswersPage(AuditEventDto)
  async list(@Query() query: ListAuditEventsQuery): Promise<Page<object>> {
    return (await this.events.list(query)).map(toAuditEventDto);
  }
}
