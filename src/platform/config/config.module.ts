import { Global, Module } from '@nestjs/common';
import { ConfigModule as NestConfigModule } from '@nestjs/config';
import { environmentSettings } from './read-settings';
import { Settings } from './settings';

/** Gives every module the checked {@link Settings}, read from the environment and from a file `.env` beside it. */
@Global()
@Module({
  imports: [NestConfigModule.forRoot({ load: [environmentSettings] })],
  providers: [{ provide: Settings, inject: [environmentSettings.KEY], useFactory: (settings: Settings) => settings }],
  exports: [Settings],
})
export class ConfigModule {}
