import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AppModule } from './app.module';
import { Settings } from './config/settings';
import { configureApp } from './configure-app';
import { ApiAdapter } from './operations/api-adapter';
import { Lifetime } from './operations/lifetime';
import { announce } from './operations/startup';

const lifetime = new Lifetime();

async function start(): Promise<void> {
  const app = lifetime.created(
    await NestFactory.create<NestExpressApplication>(AppModule, new ApiAdapter(), {
      bodyParser: false,
      // Until there is a logger, see OperationsModule; of a start that fails earlier, Lifetime tells all there is to tell.
      bufferLogs: true,
      autoFlushLogs: false,
      abortOnError: false,
    }),
  );
  configureApp(app);
  const { PORT, HOST } = app.get(Settings);
  await (HOST ? app.listen(PORT, HOST) : app.listen(PORT));
  lifetime.started();
  announce(app);
}

start().catch((error) => lifetime.fail(error));
