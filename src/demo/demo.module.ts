import { Module } from '@nestjs/common';
import { DemoAccounts } from './demo-accounts';
import { DemoData } from './demo-data';

@Module({ providers: [DemoData, DemoAccounts] })
export class DemoModule {}
