import type { IncomingMessage, ServerResponse } from 'node:http';
import type { NextFunction, Request, Response } from 'express';
import helmet from 'helmet';

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

export function securityHeaders() {
  const [ofApi, ofDocs] = [headersOf(api), headersOf(docs)];
  return (request: Request, response: Response, next: NextFunction): void => {
    // Means something over HTTPS only (RFC 6797, 7.2).
    if (request.secure) response.setHeader('Strict-Transport-Security', `max-age=${ONE_YEAR}; includeSubDomains`);
    for (const [name, value] of DOCS.test(request.path) ? ofDocs : ofApi) response.setHeader(name, value);
    next();
  };
}
