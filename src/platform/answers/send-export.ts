import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Response } from 'express';
import { breakOff } from '../exports/break-off';
import type { Export } from '../exports/export';
import { notExportable } from '../exports/not-exportable';
import { acceptsGzip, Encoding, gzipStream } from '../http/compressed';
import { hasReplacedMethods } from '../http/replaced-methods';
import { pathsOf } from '../routing/version';
import { Page } from './page';
import { PIECE_BYTES, waitsForReader } from './unread-answers';

/** How many listeners of one event a pipeline adds to its end at most. */
const LISTENERS_OF_PIPELINE = 8;
/** What the name of a file doesn't take from a path. */
const NOT_IN_NAMES = /[^a-z\d_-]/g;

/**
 * Sends a whole list as its client reads it. After the first byte an error breaks the connection off, so that nobody takes
 * a part for the whole.
 * @throws {ApiError} NOT_ACCEPTABLE when the handler has answered something else than the list
 */
export async function sendExport(response: Response, exported: Export, body: unknown): Promise<void> {
  if (!(body instanceof Page) || !body.rest) throw notExportable('its handler answered something else than the page');
  const texts = textsOf(body as Page<object>, exported);
  const first = (await texts.next()).value as string;
  // The time limit may have answered meanwhile.
  if (response.headersSent || response.closed) return;
  setHeaders(response, exported);
  if (!exported.readsRows) return void response.end();
  await send(response, piecesOf(first, texts));
}

async function* textsOf(page: Page<object>, { attributes, format }: Export): AsyncGenerator<string> {
  const columns = page.fields ?? attributes;
  const linesOf = (items: object[]) => items.map((item) => format.line(item, columns)).join('');
  yield format.head(columns) + linesOf(page.data);
  for await (const items of page.rest!) {
    const lines = linesOf(items);
    items.length = 0;
    yield lines;
  }
}

function setHeaders(response: Response, { format }: Export): void {
  const [name = ''] = pathsOf(response.req).inTable.toLowerCase().split('/').filter(Boolean).slice(-1);
  const filename = `${name.replace(NOT_IN_NAMES, '')}.${format.extension}`;
  response.setHeader('Content-Type', format.contentType);
  response.setHeader('Content-Disposition', `attachment; filename="${filename}"`);
  if (!response.hasHeader('Cache-Control')) response.setHeader('Cache-Control', 'no-store');
}

async function send(response: Response, pieces: AsyncIterable<Buffer>): Promise<void> {
  const gzips = !hasReplacedMethods(response) && acceptsGzip(response.req);
  if (gzips) response.setHeader('Content-Encoding', Encoding.GZIP);
  waitsForReader(response);
  response.setMaxListeners(response.getMaxListeners() + LISTENERS_OF_PIPELINE);
  response.flushHeaders();
  // The rows have a connection of their own, which ends with the answer.
  response.req.readsSince = Infinity;
  const source = Readable.from(orBreakOff(response, pieces));
  const sent = gzips ? pipeline(source, gzipStream(), response) : pipeline(source, response);
  // What fails is logged where the connection is broken off. That a client goes away is no error.
  await sent.catch(() => undefined);
}

async function* orBreakOff(response: Response, pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* pieces;
  } catch (error) {
    breakOff(response, error);
    throw error;
  }
}

async function* piecesOf(first: string, others: AsyncIterable<string>): AsyncGenerator<Buffer> {
  yield* inPieces(first);
  for await (const text of others) yield* inPieces(text);
}

function* inPieces(text: string): Generator<Buffer> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
}
