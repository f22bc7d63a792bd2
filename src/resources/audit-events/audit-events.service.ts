import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { AuditEvent, type Page, paginate } from '../../platform';
import type { ListAuditEventsQuery } from './audit-event.dto';

@Injectable()
export class AuditEventsService {
  constructor(@InjectRepository(AuditEvent) private readonly events: Repository<AuditEvent>) {}

  list({ resource, resource_id, action, ...query }: ListAuditEventsQuery): Promise<Page<AuditEvent>> {
    return paginate(this.events, query, { filter: { resource, resource_id, action } });
  }
}
