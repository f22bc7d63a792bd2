import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { AuditEvent, type ApiError, type Page, paginate, validationError } from '../../platform';
import type { ListAuditEventsQuery } from './audit-event.dto';

@Injectable()
export class AuditEventsService {
  constructor(@InjectRepository(AuditEvent) private readonly events: Repository<AuditEvent>) {}

  list({ resource, resource_id, action, ...query }: ListAuditEventsQuery): Promise<Page<AuditEvent>> {
    if (resource_id !== undefined && resource === undefined) throw resourceMissing();
    return paginate(this.events, query, { filter: { resource, resource_id, action } });
  }
}

/** 400 for an id of any resource: the index begins with the resource. */
export const resourceMissing = (): ApiError =>
  validationError([{ field: 'resource', rule: 'required', message: 'goes with resource_id' }]);
