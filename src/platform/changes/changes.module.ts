import { Global, Module } from '@nestjs/common';
import { AuditCount } from './audit-count';
import { ChangeListeners } from './change-listeners';
import { ChangeNotices } from './change-notices';
import { Changes } from './changes';
import { LiveChanges } from './live-changes';
import { SettledChanges } from './settled-changes';

@Global()
@Module({
  providers: [Changes, SettledChanges, ChangeNotices, LiveChanges, ChangeListeners, AuditCount],
  exports: [Changes, SettledChanges, ChangeNotices, ChangeListeners],
})
export class ChangesModule {}
