import { type CanActivate, Controller, Get, Injectable, Module, Post, UseGuards } from '@nestjs/common';
import { type BeforeApplicationShutdown, type OnApplicationShutdown } from '@nestjs/common';
import { type OnApplicationBootstrap, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { Test, type TestingModuleBuilder } from '@nestjs/testing';
import { AppModule } from '../application';
import { Creates, Public, Settings } from '../../../src/platform';
import { cloneTemplate, readSettings } from '../../../src/platform/testing';

export const hooks: string[] = [];

@Injectable()
export class Kettle
  implements OnModuleInit, OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown, OnApplicationShutdown
{
  boil(): string {
    return 'steam';
  }

  onModuleInit = () => void hooks.push('onModuleInit');
  onApplicationBootstrap = () => void hooks.push('onApplicationBootstrap');
  onModuleDestroy = () => void hooks.push('onModuleDestroy');
  beforeApplicationShutdown = (signal?: string) => void hooks.push(`beforeApplicationShutdown ${signal}`);
  onApplicationShutdown = (signal?: string) => void hooks.push(`onApplicationShutdown ${signal}`);
}

@Injectable()
export class KettleGuard implements CanActivate {
  canActivate(): boolean {
    return false;
  }
}

@Controller('kettles')
@Public()
export class KettlesController {
  constructor(private readonly kettle: Kettle) {}

  @Get()
  get(): object {
    return { kettle: this.kettle.boil() };
  }

  @Get('guarded')
  @UseGuards(KettleGuard)
  guarded(): object {
    return { guarded: true };
  }

  @Post()
  @Creates(Object)
  create(): object {
    return { id: 1, kettle: this.kettle.boil() };
  }
}

@Module({ controllers: [KettlesController], providers: [Kettle] })
export class KettlesModule {}

export const databases: (() => Promise<void>)[] = [];

export const environmentOf = (url: string) => ({
  NODE_ENV: 'test',
  LOG_LEVEL: 'silent',
  DATABASE_URL: url,
  DATA_DIR: process.env.TEST_DIRECTORY,
});

/** As the documentation has it, but for the settings, which a team has in its environment. */
export async function testingModule(imports: unknown[] = []): Promise<TestingModuleBuilder> {
  const database = await cloneTemplate();
  databases.push(database.drop);
  const settings = environmentOf(database.url);
  return Test.createTestingModule({ imports: [AppModule, KettlesModule, ...(imports as never[])] })
    .setLogger(false as never)
    .overrideProvider(Settings)
    .useValue(readSettings(settings));
}
