import { Module } from '@nestjs/common';
import { declareSettings } from '../../platform';
import { AuditEventsModule } from '../audit-events/audit-events.module';
import { ChangesController } from './changes.controller';
import { ChangesService } from './changes.service';
import { ChangesSettings } from './changes-settings';

@Module({
  imports: [AuditEventsModule],
  controllers: [ChangesController],
  providers: [declareSettings(ChangesSettings), ChangesService],
})
export class ChangesModule {}
