import type { Request, RequestHandler, Response } from 'express';
import { ApiError } from '../../errors/api-error';
import { isRead } from '../../http/is-read';
import { DEFAULT_VERSION } from '../../routing/version';
import { type ApiIndex, CACHED, linkHeader } from './api-index';

const SEE_OTHER = 303;
const OK = 200;
const NO_CONTENT = 204;
const Allow = 'GET, HEAD, OPTIONS';

/**
 * Answers `/` where nothing else does, such as a team's page: a browser goes on to the page for people, everybody else
 * gets the index (D-231).
 * @param reply sends a value in the envelope
 */
export function rootIndex(index: ApiIndex, reply: (response: Response, body: object, status: number) => unknown) {
  const handler: RequestHandler = (request, response, next) => {
    if (request.path !== '/') return next();
    if (request.method === 'OPTIONS') return void response.status(NO_CONTENT).set({ Allow }).end();
    if (!isRead(request)) return next(new ApiError('METHOD_NOT_ALLOWED', { headers: { Allow } }));
    response.vary('Accept, Accept-Encoding').set('Cache-Control', CACHED);
    const { page } = index;
    if (page === undefined || !prefersHtml(request)) {
      const found = index.of(DEFAULT_VERSION, '/');
      return reply(response.set('Link', linkHeader(found.links)), found, OK);
    }
    return void response.status(SEE_OTHER).location(page).set('Content-Length', '0').end();
  };
  return handler;
}

const prefersHtml = (request: Request): boolean => request.accepts(['application/json', 'text/html']) === 'text/html';
