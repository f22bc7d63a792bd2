import { Module } from '@nestjs/common';
import { declareSettings } from '../../platform';
import { PublicController } from './public.controller';
import { PublicSettings } from './public-settings';

@Module({ controllers: [PublicController], providers: [declareSettings(PublicSettings)] })
export class PublicModule {}
