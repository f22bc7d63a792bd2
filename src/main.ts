import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { Logger } from 'nestjs-pino';
import { AppModule } from './app.module';
import { Settings } from './config/settings';
import { configureApp } from './configure-app';
import { ApiAdapter } from './operations/api-adapter';
import { announce, explainFailure } from './operations/startup';

async function start(): Promise<void> {
  const app = await NestFactory.create<NestExpressApplication>(AppModule, new ApiAdapter(), {
    bodyParser: false,
    bufferLogs: true,
    abortOnError: false,
  });
  try {
    app.useLogger(app.get(Logger));
    app.enableShutdownHooks();
    configureApp(app);
    const { PORT, HOST } = app.get(Settings);
    await (HOST ? app.listen(PORT, HOST) : app.listen(PORT));
    announce(app);
  } catch (error) {
    await app.close();
    throw error;
  }
}

start().catch(explainFailure);
