import type { INestApplication } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import compression from 'compression';
import type { Logger } from 'pino';
import { DataSource } from 'typeorm';
import { Settings } from './config/settings';
import { setUpDocs } from './conventions/docs/swagger-ui';
import { crossOrigin } from './conventions/requests/cross-origin';
import { inSequence } from './conventions/requests/in-sequence';
import { parseQuery } from './conventions/requests/query-string';
import { assignRequestId } from './conventions/requests/request-id';
import { requireHttps } from './conventions/requests/secure-transport';
import { timeoutAfter } from './conventions/requests/timeout';
import { API_PREFIX, resolveVersion } from './conventions/requests/version';
import { requireWellFormed } from './conventions/requests/well-formed';
import { securityHeaders } from './conventions/responses/security-headers';
import { AbandonedReads } from './database/abandoned-reads';
import { DatabaseServer } from './database/database-server';
import type { ApiAdapter } from './operations/api-adapter';
import { PINO } from './operations/logging.module';
import { logRequests } from './operations/request-log';

const OUTSIDE_THE_PREFIX = ['health/live', 'health/ready', '.well-known/jwks.json'];

/** What Nest wants on the app object: the tests run the very same application as `main.ts`. */
export function configureApp(app: INestApplication): void {
  const express = app as NestExpressApplication;
  const settings = app.get(Settings);
  const logger = app.get<Logger>(PINO);
  const adapter = app.getHttpAdapter() as ApiAdapter;

  adapter.limitRequests(settings.REQUEST_TIMEOUT);
  express.disable('x-powered-by');
  express.disable('etag');
  express.set('trust proxy', settings.TRUST_PROXY);
  express.set('query parser', parseQuery);
  app.setGlobalPrefix(API_PREFIX, { exclude: OUTSIDE_THE_PREFIX });

  const databaseUrl = app.get(DatabaseServer).url;
  const onFailure = (error: unknown) => logger.warn({ err: error }, 'A statement was left to its own time-out');
  const oldestUnanswered = () => adapter.oldestUnanswered;
  const abandonedReads = new AbandonedReads({
    database: app.get(DataSource),
    databaseUrl,
    oldestUnanswered,
    onFailure,
  });
  const timeLimit = timeoutAfter({ limit: settings.REQUEST_TIMEOUT, databaseUrl, abandonedReads, onFailure });
  app.use(
    inSequence([
      assignRequestId,
      logRequests(logger),
      timeLimit,
      securityHeaders(),
      ...(settings.production ? [requireHttps] : []),
      ...(settings.CORS_ORIGINS.length > 0 ? [crossOrigin(settings)] : []),
      requireWellFormed,
      resolveVersion,
    ]),
  );
  if (!settings.API_DOCS) return;
  app.use('/docs', compression());
  setUpDocs(app);
}
