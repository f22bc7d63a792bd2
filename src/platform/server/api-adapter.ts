import { createServer, type Server } from 'node:http';
import { createServer as createSecureServer, Server as SecureServer } from 'node:https';
import type { NestApplicationOptions, RequestMethod } from '@nestjs/common';
import type { Express, Request, RequestHandler, Response } from 'express';
import { rememberHandshakes } from '../auth/request-of';
import { StartupError } from '../config/startup-error';
import { errorHandler } from '../answers/error-handler';
import { notFound, type RightsOf, unknownRoute } from '../routing/unknown-route';
import { answerParserErrors } from './parser-errors';
import { markMiddleware, onlyIn, tablePathOf } from '../routing/route-versions';
import { refuseTarget } from '../pipeline/well-formed';
import { versionedUrl } from '../routing/version';
import { reply } from '../answers/reply';
import type { Certificate } from './certificate';
import { Drain } from './drain';
import { expressMessages } from './express-messages';
import { FixedSettings } from './fixed-settings';
import { HookedAdapter } from './hooked-adapter';
import { requireSeenExtensions } from './own-properties';
import { RoutingTable } from '../routing/routing-table';

/**
 * The interval in which Node checks for late headers, in milliseconds. Node's default of 30 s would extend the limit.
 */
const CONNECTIONS_CHECK_INTERVAL = 1_000;
/** Longer than the idle time limit of common load balancers (60 s), so that they close idle connections, not this server. */
const KEEP_ALIVE_TIMEOUT = 65_000;
/** Milliseconds that a client has to agree on TLS. Node's default is two minutes. */
const HANDSHAKE_TIMEOUT = 10_000;
/** How long after a request's time limit its connection is destroyed, in milliseconds. */
const LAST_RESORT = 5_000;

/** Nest's Express adapter, with changes to routing, answering, listening and stopping. */
export class ApiAdapter extends HookedAdapter {
  private drain: Drain;
  private readonly routes: RoutingTable;
  private readonly settings: FixedSettings;
  /** The middleware that every request passes first. */
  private entrance?: RequestHandler;
  /** Answers what no route has taken, before {@link unknownRoute}. Default: nothing */
  fallback?: RequestHandler;
  /** Whether a route may be declared twice, so that the second one never answers. Default: no */
  mayRepeatRoutes = false;
  /** What the caller of an OPTIONS request may call. Default: everything */
  // eslint-disable-next-line no-restricted-syntax -- one for the whole process
  rightsOf: RightsOf = () => Promise.resolve(() => true);

  /** @param certificate for HTTPS. Default: plain HTTP */
  constructor(private readonly certificate?: Certificate) {
    super();
    const app = this.getInstance<Express>();
    this.routes = new RoutingTable(app);
    this.settings = new FixedSettings(app);
    // Makes res.json() of Express escape the same characters as the service.
    this.set('json escape', true);
  }

  /** @param entrance the middleware before everything that is added to the application, earlier or later */
  configure(entrance: RequestHandler, settings: Record<string, unknown>): void {
    if (this.entrance)
      throw new StartupError('configureApp(app) was called for this application: it is configured already.');
    this.entrance = entrance;
    this.settings.fix(settings);
  }

  /** Called by Nest when it creates an application, and before the application serves. */
  // eslint-disable-next-line @typescript-eslint/require-await
  override async init(): Promise<void> {
    if (!this.httpServer || this.entrance) return;
    throw new StartupError(
      'This application was never configured: its answers would have no envelope, log line or time limit. Make it by ' +
        'createApplication() of src/platform, or call configureApp(app) before app.init() or app.listen().',
    );
  }

  /** Adds a middleware once, although Nest calls this for each version. */
  override createMiddlewareFactory(method: RequestMethod) {
    const mount = super.createMiddlewareFactory(method) as (path: string, callback: RequestHandler) => unknown;
    const inAll = new Set<string>();
    const add = (versionedPath: string, callback: RequestHandler) => {
      const { path, version } = tablePathOf(versionedPath);
      if (inAll.has(path)) return undefined;
      if (!version) inAll.add(path);
      const adapted = version ? onlyIn(new Set([version]), callback) : callback;
      markMiddleware(adapted);
      return mount(path, adapted);
    };
    return add as ReturnType<HookedAdapter['createMiddlewareFactory']>;
  }

  /** The URL that Nest compares with a middleware's exclusions, and uses as cache key. */
  override getRequestUrl(request: Request): string {
    return versionedUrl(request);
  }

  /** Sends a handler's value in the success envelope. The answers of exception filters get no envelope. */
  override reply(response: Response, body: unknown, statusCode?: number): unknown {
    // The time limit may have answered already.
    if (response.headersSent) return undefined;
    if (statusCode) response.statusCode = statusCode;
    return reply(response, body, () => super.reply(response, body) as unknown);
  }

  /**
   * Does nothing, because the input guard reads bodies after 401 and 403. So forgetting `bodyParser: false` has no
   * effect.
   */
  override registerParserMiddleware(): void {}

  /** Also answers paths outside of the prefix, which Nest would leave to Express's own page. */
  override setNotFoundHandler(): void {
    requireSeenExtensions(this.getInstance<Express>());
    this.routes.settle(this.mayRepeatRoutes);
    if (this.fallback) this.routes.addLast(this.fallback);
    this.routes.addLast(unknownRoute((request, response) => this.rightsOf(request, response)));
  }

  override setErrorHandler(): void {
    this.routes.addLast(errorHandler);
  }

  override initHttpServer(_options: NestApplicationOptions): void {
    const options = {
      ...expressMessages(this.getInstance<Express>()),
      connectionsCheckingInterval: CONNECTIONS_CHECK_INTERVAL,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT,
      // well-formed.ts checks the header, so that the answer is an error envelope.
      requireHostHeader: false,
    };
    const { certificate } = this;
    const server = (
      certificate
        ? createSecureServer({ ...options, handshakeTimeout: HANDSHAKE_TIMEOUT, ...certificate.read() })
        : createServer(options)
    ) as Server;
    answerParserErrors(server);
    rememberHandshakes(server);
    this.drain = new Drain(server, (request, response) => this.serve(request as Request, response as Response));
    this.httpServer = server;
  }

  /**
   * Runs the entrance before the router and answers its errors. For a target that can't be parsed, the router would
   * give up before all middleware, and Express would answer with its own page.
   */
  private serve(request: Request, response: Response): void {
    const malformed = refuseTarget(request);
    const end = (error?: unknown): void => errorHandler(error ?? notFound(), request, response, () => undefined);
    const enter = (error?: unknown): void => {
      if (malformed ?? error) end(malformed ?? error);
      else this.getInstance<Express>()(request, response, end);
    };
    try {
      void this.entrance!(request, response, enter);
    } catch (error) {
      end(error);
    }
  }

  /** Reads the certificate again for new connections. Returns false if there is none. */
  renewCertificate(): boolean {
    const server = this.getHttpServer() as Server;
    if (!this.certificate || !(server instanceof SecureServer)) return false;
    this.certificate.renew(server as SecureServer);
    return true;
  }

  /** @param limit milliseconds for a request. Late headers are answered 408 */
  limitRequests(limit: number): void {
    const server = this.getHttpServer() as Server;
    server.headersTimeout = limit;
    // Node's own limit ignores progress and would end every long upload; see TimeLimit.
    server.requestTimeout = 0;
    this.drain.limit = limit + LAST_RESORT;
  }

  override beforeClose(): void {
    void this.drain.begin();
  }

  override close(): Promise<void> {
    return this.drain.finish();
  }

  /** When the oldest unanswered request arrived, by the clock of `performance`. */
  get oldestUnanswered(): number {
    return this.drain.oldestUnanswered;
  }

  /** How many requests have no complete answer. */
  get unanswered(): number {
    return this.drain.unansweredCount;
  }

  get draining(): boolean {
    return this.drain.begun;
  }
}
