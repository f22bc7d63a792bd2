import cluster from 'node:cluster';
import type { AddressInfo, Server } from 'node:net';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Logger } from 'pino';
import { AppModule } from './app.module';
import { environmentSettings, type Settings } from './config/settings';
import { configureApp } from './configure-app';
import { DemoAccounts } from './demo/demo-accounts';
import { ApiAdapter } from './operations/api-adapter';
import { Certificate } from './operations/certificate';
import { Lifetime } from './operations/lifetime';
import { PINO } from './operations/logging.module';
import { announceDemo, announceLeaving, serveForPrimary } from './operations/membership';
import { Primary } from './operations/primary';
import { announce } from './operations/startup';

const lifetime = new Lifetime(announceLeaving);

async function start(): Promise<void> {
  const settings = environmentSettings();
  await (cluster.isPrimary && settings.PROCESSES > 1 ? startPrimary(settings) : startInstance(settings));
}

async function startPrimary(settings: Settings): Promise<void> {
  const primary = new Primary(settings);
  lifetime.created(primary);
  await primary.start();
  lifetime.started(primary.logger);
}

async function startInstance(settings: Settings): Promise<void> {
  const adapter = new ApiAdapter(Certificate.of(settings));
  const app = await NestFactory.create<NestExpressApplication>(AppModule, adapter, {
    bodyParser: false,
    // Until there is a logger, see OperationsModule; of a start that fails earlier, Lifetime tells all there is to tell.
    bufferLogs: true,
    autoFlushLogs: false,
    abortOnError: false,
  });
  lifetime.created({ close: () => app.close(), hangUp: () => adapter.renewCertificate() });
  configureApp(app);
  const logger = app.get<Logger>(PINO);
  if (cluster.isWorker) {
    await app.init();
    lifetime.started(logger);
    if (app.get(DemoAccounts).offered) announceDemo();
    return serveForPrimary(app.getHttpServer(), () => lifetime.stop());
  }
  const { PORT, listenAddress } = settings;
  await (listenAddress ? app.listen(PORT, listenAddress) : app.listen(PORT));
  lifetime.started(logger);
  const { port } = (app.getHttpServer() as Server).address() as AddressInfo;
  announce(settings, logger, { port, demo: app.get(DemoAccounts).offered });
}

start().catch((error) => lifetime.fail(error));
