import cluster from 'node:cluster';
import type { AddressInfo, Server } from 'node:net';
import type { INestApplication, Type } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Logger } from 'pino';
import { environmentSettings } from '../config/read-settings';
import type { Settings } from '../config/settings';
import { createApplication, type NestOptions } from './create-application';
import type { ApiAdapter } from '../server/api-adapter';
import { Certificate } from '../server/certificate';
import { Lifetime, closableApplication } from './lifetime';
import { PINO } from '../logging/logging.module';
import { announceDemo, announceLeaving, serveForPrimary } from './cluster-worker';
import { Primary } from './primary';
import { announce, type Demo } from './startup';

export interface RunOptions {
  /** Options of `NestFactory.create()`, e.g. `{ cookies: { secret } }`. Default: none */
  nest?: NestOptions;
  /** Prepares the application before it listens: middleware, microservices, WebSocket adapters. Default: nothing */
  prepare?: (app: NestExpressApplication) => unknown;
  /** The demo accounts of the initialized application. Default: none */
  demo?: (app: INestApplication) => Demo;
}

/** How much longer than its workers the first process waits for their end, in milliseconds. */
const LATER = 2_000;

const NO_DEMO: Demo = { open: false, offered: false };

/** Starts the service of a module, and ends the process when the service has ended. */
export function run(
  module: Type,
  { nest = {}, prepare = () => undefined, demo = () => NO_DEMO }: RunOptions = {},
): void {
  const lifetime = new Lifetime(announceLeaving);
  start({ module, nest, prepare, demo, lifetime }).catch((error) => lifetime.fail(error));
}

interface Service extends Required<RunOptions> {
  module: Type;
  lifetime: Lifetime;
}

async function start(service: Service): Promise<void> {
  const settings = environmentSettings();
  await (cluster.isPrimary && settings.PROCESSES > 1
    ? startPrimary(settings, service)
    : startInstance(settings, service));
}

async function startPrimary(settings: Settings, { lifetime }: Service): Promise<void> {
  const primary = new Primary(settings);
  // Later than each of its workers.
  lifetime.created(primary, settings.REQUEST_TIMEOUT + LATER);
  await primary.start();
  lifetime.started(primary.logger);
}

async function startInstance(settings: Settings, { module, nest, prepare, demo, lifetime }: Service): Promise<void> {
  // Log lines are buffered until there is a logger, see ProcessModule. If the start fails earlier, Lifetime reports the
  // failure.
  const app = await createApplication(module, { nest, certificate: Certificate.of(settings), bufferLogs: true });
  const adapter = app.getHttpAdapter() as unknown as ApiAdapter;
  lifetime.created(
    closableApplication(app, () => adapter.renewCertificate()),
    settings.REQUEST_TIMEOUT,
  );
  await prepare(app);
  const logger = app.get<Logger>(PINO);
  await app.init();
  const accounts = demo(app);
  if (cluster.isWorker) {
    lifetime.started(logger);
    announceDemo(accounts);
    return serveForPrimary(app.getHttpServer(), () => lifetime.stop());
  }
  const { PORT } = settings;
  const address = settings.listenAddress(accounts.open);
  await (address ? app.listen(PORT, address) : app.listen(PORT));
  lifetime.started(logger);
  const { port } = (app.getHttpServer() as Server).address() as AddressInfo;
  announce(settings, logger, { port, demo: accounts });
}
