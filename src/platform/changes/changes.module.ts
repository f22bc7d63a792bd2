import { Global, Module } from '@nestjs/common';
import { Changes } from './changes';
import { SettledChanges } from './settled-changes';

@Global()
@Module({ providers: [Changes, SettledChanges], exports: [Changes, SettledChanges] })
export class ChangesModule {}
