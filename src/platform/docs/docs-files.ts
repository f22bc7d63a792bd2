import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { compressWell, type Encoding, encodingFor } from '../http/compressed';
import { endWith } from '../answers/end-of-turn';
import { encodedTag, knownTag } from '../http/entity-tag';
import { isRead } from '../http/is-read';
import { searchOf } from '../routing/version';

/** The files of Swagger UI that its page loads. */
const LOADED = [
  ...['swagger-ui.css', 'swagger-ui-bundle.js', 'swagger-ui-standalone-preset.js'],
  ...['favicon-32x32.png', 'favicon-16x16.png'],
];
/** The pages that Nest generates. Those of a URL that ends with a slash, or whose query does, have other addresses in them. */
const PAGES = ['', '/', '/index.html'];
/** The scripts that Nest generates for the pages. */
const SCRIPTS = ['/swagger-ui-init.js', '/docs/swagger-ui-init.js'];
const MEDIA_TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
};
const SUCCESS = 200;

/** A file in memory, compressed once however often it is requested. */
class DocsFile {
  private readonly compressed = new Map<Encoding, Promise<Buffer>>();
  private readonly tag: string;

  constructor(
    private readonly mediaType: string,
    private readonly bytes: Buffer,
  ) {
    this.tag = createHash('sha256').update(bytes).digest('base64url');
  }

  async send(request: Request, response: Response): Promise<void> {
    const isPicture = this.mediaType.startsWith('image/');
    const encoding = isPicture ? undefined : encodingFor(request, this.bytes.length);
    const known = knownTag(this.tag, request);
    response.setHeader('Cache-Control', 'no-cache');
    response.vary('Accept-Encoding');
    response.setHeader('ETag', known ?? encodedTag(this.tag, encoding));
    if (known) return void response.status(304).end();
    const body = encoding ? await this.encoded(encoding) : this.bytes;
    response.setHeader('Content-Type', this.mediaType);
    if (encoding) response.setHeader('Content-Encoding', encoding);
    response.setHeader('Content-Length', body.length);
    endWith(response, body);
  }

  private encoded(encoding: Encoding): Promise<Buffer> {
    const known = this.compressed.get(encoding);
    if (known) return known;
    return keepUnlessFailed(this.compressed, encoding, compressWell(this.bytes, encoding));
  }
}

/**
 * Answers the page of Swagger UI and the documents from memory. They are generated, read and compressed at the first
 * request. Other paths below the page's are passed on.
 * @param page the path of the page
 * @param documents the paths of the documents
 */
export function docsFiles(page: string, documents: string[]): RequestHandler {
  const files = new Map<string, Promise<DocsFile>>();
  const made = new Set([...SCRIPTS.map((path) => page + path), ...documents]);
  const loaded = new Map(LOADED.map((name) => [`${page}/${name}`, name]));
  const pages = new Set(PAGES.map((path) => page + path));

  /** The path by which a file is known. Like Express's, it is without capitals and a slash at the end. */
  const pathOf = (url: string) => {
    const path = url.slice(0, url.length - searchOf(url).length).toLowerCase();
    const file = path.endsWith('/') ? path.slice(0, -1) : path;
    if (made.has(file) || loaded.has(file)) return file;
    return url.endsWith('/') ? url : path;
  };

  const fileOf = (path: string) => {
    const name = loaded.get(path);
    const known = files.get(path);
    return known ?? (name && keepUnlessFailed(files, path, load(name)));
  };

  const answer = async (path: string, request: Request, response: Response, next: NextFunction): Promise<void> => {
    const file = await fileOf(path);
    if (file) return file.send(request, response);
    keep(response, (one) => files.set(path, Promise.resolve(one)));
    next();
  };

  // Every request passes here, so those for anything else go on at once: a promise for each costs as much as a guard.
  return (request: Request, response: Response, next: NextFunction): Promise<void> | void => {
    if (!isRead(request)) return next();
    const { originalUrl } = request;
    const path = pathOf(originalUrl);
    const isDocs = files.has(path) || made.has(path) || loaded.has(path) || pages.has(originalUrl);
    return isDocs ? answer(path, request, response, next) : next();
  };
}

/** Forgets a failure, such as too many open files, so that the next request tries again. */
function keepUnlessFailed<K, T>(kept: Map<K, Promise<T>>, key: K, made: Promise<T>): Promise<T> {
  kept.set(key, made);
  made.catch(() => kept.delete(key));
  return made;
}

/** Loads a file from the package that Nest's module serves. */
async function load(name: string): Promise<DocsFile> {
  const ofNest = createRequire(require.resolve('@nestjs/swagger'));
  const folder = dirname(ofNest.resolve('swagger-ui-dist/package.json'));
  return new DocsFile(MEDIA_TYPES[extname(name)], await readFile(join(folder, name)));
}

/** Captures what Nest sends for this path, and sends the captured file instead. A failure isn't captured. */
function keep(response: Response, keepFile: (file: DocsFile) => void): void {
  const { send } = response;
  const sendKept = (body: unknown): Response => {
    if (response.statusCode !== SUCCESS || typeof body !== 'string') return send.call(response, body);
    const file = new DocsFile(String(response.getHeader('Content-Type')), Buffer.from(body));
    keepFile(file);
    file.send(response.req, response).catch((error: unknown) => response.req.next!(error));
    return response;
  };
  response.send = sendKept;
}
