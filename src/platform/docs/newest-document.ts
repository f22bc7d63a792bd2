import type { INestApplication } from '@nestjs/common';
import type { Express, Request, Response } from 'express';
import { VERSIONS } from '../http/api-version';
import { SECONDS_PER_MINUTE } from '../units';
import { documentPath } from './swagger-ui';

/** Where tools look for the document of an API that they know the host of. */
const WELL_KNOWN = '/.well-known/openapi.json';
const FOUND = 302;
const CACHED = `public, max-age=${5 * SECONDS_PER_MINUTE}`;

/** Leads from the well-known path to the document of the newest version (D-231). */
export function leadToNewestDocument(app: INestApplication): void {
  const newest = `/${documentPath(VERSIONS.at(-1)!)}`;
  const express = app.getHttpAdapter().getInstance() as Express;
  express.get(WELL_KNOWN, (_request: Request, response: Response) => {
    response.status(FOUND).location(newest).set({ 'Cache-Control': CACHED, 'Content-Length': '0' }).end();
  });
}
