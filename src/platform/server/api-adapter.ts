import { createServer, type Server } from 'node:http';
import { createServer as createSecureServer, Server as SecureServer } from 'node:https';
import type { NestApplicationOptions, RequestMethod } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import type { Express, Request, RequestHandler, Response } from 'express';
import { rememberHandshakes } from '../auth/request-of';
import { StartupError } from '../config/startup-error';
import { errorHandler } from '../answers/error-handler';
import { notFound, unknownRoute } from '../routing/unknown-route';
import { answerParserErrors } from './parser-errors';
import { markMiddleware, onlyIn, tablePathOf } from '../routing/route-versions';
import { refuseTarget } from '../pipeline/well-formed';
import { versionedUrl } from '../routing/version';
import { reply } from '../answers/reply';
import type { Certificate } from './certificate';
import { Drain } from './drain';
import { expressMessages } from './express-messages';
import { FixedSettings } from './fixed-settings';
import { RoutingTable } from '../routing/routing-table';

/** How often Node looks for connections whose headers are late, in milliseconds; its default of 30 s adds to the limit. */
const CONNECTIONS_CHECK_INTERVAL = 1_000;
/** Longer than the idle time-out of the usual load balancers (60 s), so that they, not we, close an idle connection. */
const KEEP_ALIVE_TIMEOUT = 65_000;
/** How much later than the request's own time-out its connection is given up, in milliseconds. */
const LAST_RESORT = 5_000;

/** Express for Nest, with what this service does differently: how it routes, answers, listens and stops. */
export class ApiAdapter extends ExpressAdapter {
  private drain: Drain;
  private readonly routes: RoutingTable;
  private readonly settings: FixedSettings;
  /** What each request meets first. */
  private entrance?: RequestHandler;

  /** @param certificate serves HTTPS with it; plain HTTP without */
  constructor(private readonly certificate?: Certificate) {
    super();
    const app = this.getInstance<Express>();
    this.routes = new RoutingTable(app);
    this.settings = new FixedSettings(app);
    // What res.json() of Express sends is as harmless within a page as what the service sends itself.
    this.set('json escape', true);
  }

  /** @param entrance what each request meets before all that is added to the application, be that added earlier or later */
  configure(entrance: RequestHandler, settings: Record<string, unknown>): void {
    if (this.entrance)
      throw new StartupError('configureApp(app) was called for this application: it is configured already.');
    this.entrance = entrance;
    this.settings.fix(settings);
  }

  /** Nest calls it when it creates an application, and when that is about to serve. */
  // eslint-disable-next-line @typescript-eslint/require-await
  override async init(): Promise<void> {
    if (!this.httpServer || this.entrance) return;
    throw new StartupError(
      'This application was never configured: its answers would have no envelope, log line or time limit. Make it by ' +
        'createApplication() of src/platform/process/create-application.ts, or call configureApp(app) before app.init() or app.listen().',
    );
  }

  /** By version as well, where Nest has a path for each. */
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
    return add as ReturnType<ExpressAdapter['createMiddlewareFactory']>;
  }

  /** What Nest compares with the paths that a middleware leaves out, and what its caches have for a key. */
  override getRequestUrl(request: Request): string {
    return versionedUrl(request);
  }

  /** A handler's value becomes the success envelope and leaves in one piece; what an exception filter replies does not. */
  override reply(response: Response, body: unknown, statusCode?: number): unknown {
    // The time-out may have answered already.
    if (response.headersSent) return undefined;
    if (statusCode) response.statusCode = statusCode;
    return reply(response, body, () => super.reply(response, body) as unknown);
  }

  /** The input guard reads bodies, after 401 and 403: nothing is lost where `bodyParser: false` is forgotten. */
  override registerParserMiddleware(): void {}

  /** Outside the prefix too, where Nest would leave the answer to Express's own page. */
  override setNotFoundHandler(): void {
    this.routes.addLast(unknownRoute);
  }

  override setErrorHandler(): void {
    this.routes.addLast(errorHandler);
  }

  override initHttpServer(_options: NestApplicationOptions): void {
    const options = {
      ...expressMessages(this.getInstance<Express>()),
      connectionsCheckingInterval: CONNECTIONS_CHECK_INTERVAL,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT,
      // Asked for by well-formed.ts, so that the answer is an envelope.
      requireHostHeader: false,
    };
    const { certificate } = this;
    const server = (
      certificate ? createSecureServer({ ...options, ...certificate.read() }) : createServer(options)
    ) as Server;
    answerParserErrors(server);
    rememberHandshakes(server);
    this.drain = new Drain(server, (request, response) => this.serve(request as Request, response as Response));
    this.httpServer = server;
  }

  /**
   * The entrance stands before the router, and its end is told what to do: a target that can't be parsed has the router give up
   * at once, past everything that was added to it, and Express then answers by a page of its own, whenever the body has come.
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

  /** Whether there is a certificate, which is read again for connections to come. */
  renewCertificate(): boolean {
    const server = this.getHttpServer() as Server;
    if (!this.certificate || !(server instanceof SecureServer)) return false;
    this.certificate.renew(server as SecureServer);
    return true;
  }

  /** @param limit milliseconds for a request; headers that take longer are answered 408 */
  limitRequests(limit: number): void {
    const server = this.getHttpServer() as Server;
    server.headersTimeout = limit;
    // Node's limit knows no progress, and would cut every long upload; see TimeLimit.
    server.requestTimeout = 0;
    this.drain.limit = limit + LAST_RESORT;
  }

  override beforeClose(): void {
    void this.drain.begin();
  }

  override close(): Promise<void> {
    return this.drain.finish();
  }

  /** When the oldest request arrived that is still to be answered, by the clock of `performance`. */
  get oldestUnanswered(): number {
    return this.drain.oldestUnanswered;
  }

  get draining(): boolean {
    return this.drain.begun;
  }
}
