import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type NestApplicationOptions, StreamableFile } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import type { Request, Response } from 'express';
import { errorHandler } from '../conventions/errors/error.filter';
import { unknownRoute } from '../conventions/errors/unknown-route';
import { answerParserErrors } from '../conventions/errors/parser-errors';
import { Page, pageLinks } from '../conventions/lists/page';
import { isCompressed } from '../conventions/responses/compressed';
import { envelope, locationOf } from '../conventions/responses/envelope';
import { toJson } from '../conventions/responses/json';
import { Drain } from './drain';

/** How often Node looks for connections whose headers are late, in milliseconds; its default of 30 s adds to the limit. */
const CONNECTIONS_CHECK_INTERVAL = 1_000;
/** Longer than the idle time-out of the usual load balancers (60 s), so that they, not we, close an idle connection. */
const KEEP_ALIVE_TIMEOUT = 65_000;
/** How much later than the request's own time-out Node gives a connection up, in milliseconds. */
const LAST_RESORT = 5_000;

/** Express for Nest, with the three things that this service does differently: how it answers, listens and stops. */
export class ApiAdapter extends ExpressAdapter {
  private drain: Drain;

  /** A handler's value becomes the success envelope and leaves in one piece. */
  override reply(response: Response, body: unknown, statusCode?: number): unknown {
    // The time-out may have answered already.
    if (response.headersSent) return undefined;
    if (typeof body !== 'object' || body === null || body instanceof StreamableFile) {
      return super.reply(response, body, statusCode) as unknown;
    }
    if (statusCode) response.status(statusCode);
    const request = response.req;
    const text = toJson(envelope(response.statusCode, body, request));
    setBodyHeaders(response, request, body);
    const length = Buffer.byteLength(text);
    // Of a GET that would come compressed nobody knows the length yet (RFC 9110, 8.6).
    if (request.method === 'HEAD' && isCompressed(request, length)) return response.end();
    response.setHeader('Content-Length', length);
    return response.end(text);
  }

  /** Outside the prefix too, where Nest would leave the answer to Express's own page. */
  override setNotFoundHandler(): void {
    this.use(unknownRoute);
  }

  override setErrorHandler(): void {
    this.use(errorHandler);
  }

  override initHttpServer(_options: NestApplicationOptions): void {
    const server = createServer({
      connectionsCheckingInterval: CONNECTIONS_CHECK_INTERVAL,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT,
      // Asked for by well-formed.ts, so that the answer is an envelope.
      requireHostHeader: false,
    });
    answerParserErrors(server);
    this.drain = new Drain(server, this.getInstance<(request: IncomingMessage, response: ServerResponse) => void>());
    this.httpServer = server;
  }

  /** @param limit milliseconds for a request; headers that take longer are answered 408 */
  limitRequests(limit: number): void {
    const server = this.getHttpServer() as Server;
    server.headersTimeout = limit;
    server.requestTimeout = limit + LAST_RESORT;
    this.drain.limit = limit + LAST_RESORT;
  }

  override beforeClose(): void {
    void this.drain.begin();
  }

  override close(): Promise<void> {
    return this.drain.finish();
  }

  get draining(): boolean {
    return this.drain.begun;
  }
}

function setBodyHeaders(response: Response, request: Request, body: object): void {
  if (!response.hasHeader('Content-Type')) response.setHeader('Content-Type', 'application/json; charset=utf-8');
  if (response.statusCode === 201) response.setHeader('Location', locationOf(body, request));
  if (body instanceof Page) response.setHeader('Link', pageLinks(body.pagination, request.originalUrl));
}
