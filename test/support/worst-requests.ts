import { type IncomingMessage } from 'node:http';
import { inPlace } from './fuzz-requests';
import { filled } from './hostile-values';
import type { Node } from './openapi';

/** Bytes of the longest answer that says what is wrong. */
const MAX_ERROR = 65_536;
/** Bytes of what is said about a file: the limit, in Base64. */
const METADATA_SIZE = 3_000;
/** Requests after which the service is asked whether any of them kept it from others. */
const BATCH = 10;

export interface Request {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: Buffer;
}

/** One place of a request with a hostile value. */
export interface Input {
  name: string;
  put: (good: Request) => Request | Promise<Request>;
}

export interface Received {
  status: number;
  length: number;
}

export class NoAnswer extends Error {}

export function raise(name: string, cause: unknown): never {
  throw new Error(`No answer to ${name}`, { cause });
}

export function* batches(inputs: Input[]): Generator<Input[]> {
  for (let at = 0; at < inputs.length; at += BATCH) yield inputs.slice(at, at + BATCH);
}

export function problemOf(name: string, { status, length }: Received): string | undefined {
  // A body has to get as far as the validation, or this would say nothing about it. What is short enough may get further.
  if (status >= 500 || (/^body (?!.*, read: )/.test(name) && status > 400)) return `is ${status}`;
  return status >= 400 && length > MAX_ERROR ? `has an answer of ${length} bytes` : undefined;
}

export async function withBody(good: Request, body: Buffer | Promise<Buffer>, encoding?: string): Promise<Request> {
  const headers = { ...good.headers, 'content-type': 'application/json' };
  return { ...good, headers: { ...headers, ...(encoding && { 'content-encoding': encoding }) }, body: await body };
}

export async function lengthOf(response: IncomingMessage): Promise<Received> {
  let length = 0;
  for await (const chunk of response) length += (chunk as Buffer).length;
  return { status: response.statusCode!, length };
}

/** In lower case, as those of headers are. */
export function namesIn(spec: Node, place: 'path' | 'query' | 'header'): string[] {
  const names = inPlace(spec, place).map(({ name }) => name as string);
  return place === 'header' ? names.map((name: string) => name.toLowerCase()) : names;
}

export function inLowerCase(headers: Record<string, string> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** What is said about a file, the name of which is hostile. */
export function metadataOf([kind, piece]: [string, string]): [string, string] {
  return [`a filename of ${kind}`, `filename ${Buffer.from(filled(piece, METADATA_SIZE)).toString('base64')}`];
}
