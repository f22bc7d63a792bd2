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

const ONE_YEAR = 365 * 24 * 60 * 60;

export function securityHeaders() {
  return (request: Request, response: Response, next: NextFunction): void => {
    // Means something over HTTPS only (RFC 6797, 7.2).
    if (request.secure) response.setHeader('Strict-Transport-Security', `max-age=${ONE_YEAR}; includeSubDomains`);
    (/^\/docs(\/|$)/.test(request.path) ? docs : api)(request, response, next);
  };
}
