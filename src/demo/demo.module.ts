import { Module } from '@nestjs/common';
import { UsersModule } from '../resources/users/users.module';
import { DemoAccounts } from './demo-accounts';
import { DemoData } from './demo-data';

@Module({ imports: [UsersModule], providers: [DemoData, DemoAccounts] })
export class DemoModule {}
