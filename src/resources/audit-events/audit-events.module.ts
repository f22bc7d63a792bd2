import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuditEvent, declareSettings } from '../../platform';
import { AuditEventsController } from './audit-events.controller';
import { AuditEventsService } from './audit-events.service';
import { AuditRetention } from './audit-retention';
import { AuditSettings } from './audit-settings';

@Module({
  imports: [TypeOrmModule.forFeature([AuditEvent])],
  controllers: [AuditEventsController],
  providers: [declareSettings(AuditSettings), AuditEventsService, AuditRetention],
  exports: [AuditSettings],
})
export class AuditEventsModule {}
