import type { IncomingMessage, ServerResponse } from 'node:http';
import type { NextFunction, Request, Response } from 'express';
import helmet from 'helmet';
import { StandingHeaders } from '../http/standing-headers';

/** Nothing of the API is a page, so nothing may be loaded from it or frame it. */
const api = helmet({
  strictTransportSecurity: false,
  contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
});

/** Swagger UI: its own scripts and styles, data: images, and calls to this very server. */
const docs = helmet({
  strictTransportSecurity: false,
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      // Swagger UI sets styles from its script.
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
const ONE_YEAR = 365 * 24 * 60 * 60;

/** What a middleware of helmet sets, which is the same for all requests: asked once instead of fifteen times a request. */
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

/** Over HTTPS; elsewhere it means nothing (RFC 6797, 7.2). */
const STRICT: [string, string] = ['Strict-Transport-Security', `max-age=${ONE_YEAR}; includeSubDomains`];

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
