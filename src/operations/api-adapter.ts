import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer, Server as SecureServer } from 'node:https';
import { type NestApplicationOptions, StreamableFile } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import type { Express, RequestHandler, Response } from 'express';
import { rememberHandshakes } from '../auth/request-of';
import { errorHandler } from '../conventions/errors/error.filter';
import { replyError } from '../conventions/errors/error-reply';
import { unknownRoute } from '../conventions/errors/unknown-route';
import { answerParserErrors } from '../conventions/errors/parser-errors';
import { type RouteMethod, RouteIndex } from '../conventions/requests/route-index';
import { sendBody, sendText } from '../conventions/responses/answer';
import type { Certificate } from './certificate';
import { Drain } from './drain';
import { expressMessages } from './express-messages';

/** How often Node looks for connections whose headers are late, in milliseconds; its default of 30 s adds to the limit. */
const CONNECTIONS_CHECK_INTERVAL = 1_000;
/** Longer than the idle time-out of the usual load balancers (60 s), so that they, not we, close an idle connection. */
const KEEP_ALIVE_TIMEOUT = 65_000;
/** How much later than the request's own time-out its connection is given up, in milliseconds. */
const LAST_RESORT = 5_000;

const MIN_ERROR = 400;
const METHODS: RouteMethod[] = ['get', 'post', 'put', 'patch', 'delete'];

type AddRoute = (path: string, handler?: RequestHandler) => unknown;

/** Express for Nest, with the three things that this service does differently: how it answers, listens and stops. */
export class ApiAdapter extends ExpressAdapter {
  private drain: Drain;

  /** @param certificate serves HTTPS with it; plain HTTP without */
  constructor(private readonly certificate?: Certificate) {
    super();
    for (const method of METHODS) this.adaptRoutes(method);
    this.adaptRoutes('all');
  }

  /** Has the application find routes of this method by its index, and run those that may write in units of work. */
  private adaptRoutes(method: RouteMethod | 'all'): void {
    const app = this.getInstance<Express>();
    const add = app[method].bind(app) as AddRoute;
    const addAdapted: AddRoute = (path, handler) => {
      // app.get(name) is a setting.
      if (!handler) return add(path);
      const adapted = method === 'get' ? handler : inUnitOfWork(handler);
      // The index leaves OPTIONS out, which a route for all methods may be for as well.
      const router = method === 'all' ? undefined : RouteIndex.routerFor(app, path);
      return router ? router[method](path, adapted) : add(path, adapted);
    };
    Object.assign(app, { [method]: addAdapted });
  }

  /** A handler's value becomes the success envelope and leaves in one piece; what an exception filter replies does not. */
  override reply(response: Response, body: unknown, statusCode?: number): unknown {
    // The time-out may have answered already.
    if (response.headersSent) return undefined;
    if (statusCode) response.statusCode = statusCode;
    const isEmpty = body === undefined || body === null;
    if (isEmpty || body instanceof StreamableFile) return super.reply(response, body) as unknown;
    if (response.statusCode >= MIN_ERROR) return replyError(response, body);
    if (typeof body === 'string') return sendText(response, body);
    return typeof body === 'object' ? sendBody(response, body) : (super.reply(response, body) as unknown);
  }

  /** Outside the prefix too, where Nest would leave the answer to Express's own page. */
  override setNotFoundHandler(): void {
    this.use(unknownRoute);
  }

  override setErrorHandler(): void {
    this.use(errorHandler);
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
    this.drain = new Drain(server, this.getInstance<(request: IncomingMessage, response: ServerResponse) => void>());
    this.httpServer = server;
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

/** All that such a route does in the database ends with its request. What only reads is ended by the database itself. */
function inUnitOfWork(handler: RequestHandler): RequestHandler {
  return (request, response, next) => request.work!.run(() => handler(request, response, next));
}
