import type { INestApplication, Type } from '@nestjs/common';
import type { ApplicationConfig } from '@nestjs/core';
import type { Express } from 'express';
import type { Logger } from 'pino';
import { DataSource } from 'typeorm';
import { tellOfWrites } from '../changes/tell-of-writes';
import { ChangeNotices } from '../changes/change-notices';
import { DeclaredAccess } from '../auth/declared-access';
import { Settings } from '../config/settings';
import { StartupError } from '../config/startup-error';
import { leadToNewestDocument } from '../docs/newest-document';
import { setUpDocs } from '../docs/swagger-ui';
import { CallerRights } from '../pipeline/caller-rights';
import { ApiIndex } from './indexes/api-index';
import { rootIndex } from './indexes/root-index';
import { ConnectionShares } from '../pipeline/connection-shares';
import { DeclaredInput } from '../pipeline/declared-input';
import { crossOrigin } from '../pipeline/cross-origin';
import { RequestTurns } from '../pipeline/request-turns';
import { inSequence } from '../http/in-sequence';
import { HandlerChecks } from '../pipeline/handler-checks';
import { OWN_GUARDS } from '../pipeline/pipeline.module';
import { overrideMethod } from '../pipeline/method-override';
import { markControllerMethods } from '../routing/controller-methods';
import { excludeInEveryVersion } from '../routing/middleware-exclusions';
import { middlewareBeside } from '../routing/team-middleware';
import { parseQuery } from '../pipeline/query-string';
import { assignRequestId } from '../http/request-id';
import { requireHttps } from '../pipeline/secure-transport';
import { timeoutAfter } from '../pipeline/timeout';
import { resolveVersion } from '../routing/version';
import { configOf, fixPaths } from '../routing/versioning';
import { requireWellFormed } from '../pipeline/well-formed';
import { securityHeaders } from '../pipeline/security-headers';
import { AbandonedReads } from '../transactions/abandoned-reads';
import { hasOwnPool, poolOf } from '../transactions/cancellable-pool';
import { DatabaseServer } from '../database/database-server';
import { PINO } from '../logging/logging.module';
import { logRequests } from '../pipeline/request-log';
import { traces } from '../traces/begin';
import { requireAdapter } from '../server/required-adapter';

/** `api` is the index of the API itself. */
const OUTSIDE_THE_PREFIX = ['api', 'health/live', 'health/ready', '.well-known/jwks.json'];

/**
 * Configures what Nest only allows on the app object. Call it once, before `app.init()` or `app.listen()`; {@link
 * createApplication} calls it.
 */
export function configureApp(app: INestApplication): void {
  const adapter = requireAdapter(app.getHttpAdapter());
  const settings = settingsOf(app);
  const logger = app.get<Logger>(PINO);
  const { API_DOCS, TRUST_PROXY } = settings;

  adapter.limitRequests(settings.REQUEST_TIMEOUT);
  adapter.rightsOf = app.get(CallerRights).of;
  adapter.fallback = rootIndex(app.get(ApiIndex), (...answer) => adapter.reply(...answer));
  const ofAllRoutes = () => pipesOfAll(app);
  app.get(DeclaredInput).ofAllRoutes = ofAllRoutes;
  fixPaths(app, OUTSIDE_THE_PREFIX);
  excludeInEveryVersion(app);
  markControllerMethods(app.get(DeclaredAccess).routes());
  // Nest has compared the routes itself, and done what the team chose.
  adapter.mayRepeatRoutes = configOf(app).getRouteConflictPolicy()?.duplicate !== undefined;

  const databaseUrl = app.get(DatabaseServer).url;
  const onFailure = (error: unknown) => logger.warn({ err: error }, 'A statement was left to its own time-out');
  const oldestUnanswered = () => adapter.oldestUnanswered;
  const database = app.get(DataSource);
  const pool = hasOwnPool(database) ? poolOf(database) : undefined;
  if (pool) pool.turns = new ConnectionShares(settings.DATABASE_POOL_SIZE, pool.permits);
  const abandonedReads = new AbandonedReads({
    database,
    databaseUrl,
    oldestUnanswered,
    onFailure,
  });
  const timeLimit = timeoutAfter({ limit: settings.REQUEST_TIMEOUT, databaseUrl, abandonedReads, onFailure });
  const turns = new RequestTurns(pool);
  adapter.getHttpServer().on('connection', () => turns.accepted());
  const entrance = inSequence([
    assignRequestId,
    ...(traces ? [traces.requests] : []),
    logRequests(logger),
    timeLimit,
    tellOfWrites(app.get(ChangeNotices)),
    securityHeaders(),
    // Before anything that answers: what takes no turn would make turns long without a limit.
    (request, response, next) => turns.take(request, response, next),
    ...(traces ? [traces.follow] : []),
    ...(settings.production ? [requireHttps] : []),
    ...(settings.CORS_ORIGINS.length > 0 ? [crossOrigin(settings)] : []),
    requireWellFormed,
    overrideMethod,
    resolveVersion,
  ]);
  adapter.configure(entrance, {
    'x-powered-by': false,
    etag: false,
    'trust proxy': TRUST_PROXY,
    'query parser': parseQuery,
  });
  const hasMiddleware = middlewareBeside(adapter.getInstance<Express>(), () => {
    if (!API_DOCS) return;
    setUpDocs(app);
    leadToNewestDocument(app);
  });
  const config = configOf(app);
  const fillers = () => ({
    signsCookies: config.getCookieSigner() !== undefined,
    hasMiddleware,
    hasInterceptor: config.getGlobalInterceptors().length + config.getGlobalRequestInterceptors().length > 0,
    hasGuard: guardsOfAll(config).some((guard) => !OWN_GUARDS.includes(guard as Type)),
  });
  app.get(HandlerChecks).fillers = fillers;
}

/** The classes of those of `app.useGlobalGuards()` and of APP_GUARD. */
function guardsOfAll(config: ApplicationConfig): unknown[] {
  const ofRequests = config.getGlobalRequestGuards().map(({ metatype }) => metatype as unknown);
  return [...config.getGlobalGuards().map(({ constructor }) => constructor), ...ofRequests];
}

/** Those of `app.useGlobalPipes()` and of APP_PIPE: instances, and the classes of request-scoped ones. */
function pipesOfAll(app: INestApplication): unknown[] {
  const config = configOf(app);
  return [...config.getGlobalPipes(), ...config.getGlobalRequestPipes().map(({ metatype }) => metatype)];
}

function settingsOf(app: INestApplication): Settings {
  try {
    return app.get(Settings);
  } catch {
    throw new StartupError(
      'This application is without the modules of the service, which its requests go through: begin with ' +
        'Test.createTestingModule({ imports: [AppModule] }), and override what the test replaces.',
    );
  }
}
