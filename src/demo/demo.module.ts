import { Module } from '@nestjs/common';
import { DemoData } from './demo-data';

@Module({ providers: [DemoData] })
export class DemoModule {}
