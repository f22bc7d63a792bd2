import type { IncomingMessage, ServerResponse } from 'node:http';
import type { NextFunction, Request, Response } from 'express';
import helmet from 'helmet';
import { StandingHeaders } from '../http/standing-headers';
import { SECONDS_PER_DAY } from '../units';

/** No answer of the API is a page, so nothing may be loaded or framed. */
const api = helmet({
  strictTransportSecurity: false,
  contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
});

/** Swagger UI: its own scripts and styles, data: images, and requests to this server. */
const docs = helmet({
  strictTransportSecurity: false,
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      // The script of Swagger UI sets styles.
      styleSrc: ["'self'", "'unsafe-inline'"],
      imgSrc: ["'self'", 'data:'],
      fontSrc: ["'self'", 'data:'],
      connectSrc: ["'self'"],
      frameAncestors: ["'none'"],
      baseUri: ["'none'"],
      formAction: ["'self'"],
    },
  },
});

const DOCS = /^\/docs(\/|$)/;

/** The headers that a middleware of helmet sets. They are the same for all requests, so they are computed once. */
function headersOf(middleware: ReturnType<typeof helmet>): [name: string, value: string][] {
  const headers: [string, string][] = [];
  const response = {
    setHeader: (name: string, value: string) => headers.push([name, value]),
    removeHeader: () => undefined,
  };
  middleware({} as IncomingMessage, response as unknown as ServerResponse, (error) => {
    if (error) throw error as Error;
  });
  return headers;
}

/** Only over HTTPS; elsewhere the header has no effect (RFC 6797, 7.2). */
const STRICT: [string, string] = ['Strict-Transport-Security', `max-age=${365 * SECONDS_PER_DAY}; includeSubDomains`];

export function securityHeaders() {
  const [plain, secure] = [[], [STRICT]].map((more) => ({
    api: new StandingHeaders([...more, ...headersOf(api)]),
    docs: new StandingHeaders([...more, ...headersOf(docs)]),
  }));
  return (request: Request, response: Response, next: NextFunction): void => {
    const headers = request.secure ? secure : plain;
    response.standingHeaders = DOCS.test(request.path) ? headers.docs : headers.api;
    next();
  };
}
