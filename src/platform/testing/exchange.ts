import { Agent, type IncomingMessage, request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';

/** Whole, and decompressed. */
export interface Received {
  status: number;
  headers: Headers;
  text: string;
}

const agent = new Agent({ keepAlive: true });
const utf8 = new TextDecoder();
/** Without a body, these say that it is empty. */
const WITH_BODY = ['POST', 'PUT'];

/**
 * Sends a request by node:http, in half of the time of fetch(): a tenth of the time of all tests. Unlike there, nothing
 * follows a redirection, and an answer is compressed only if the request asks for it.
 *
 * @throws {Error} for an answer that breaks off
 */
export function exchange(
  method: string,
  url: URL,
  headers: Record<string, string>,
  body?: string | Uint8Array,
): Promise<Received> {
  const length = body === undefined ? (WITH_BODY.includes(method) ? 0 : undefined) : Buffer.byteLength(body);
  const framed = length === undefined ? headers : { 'Content-Length': length, ...headers };
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method, agent, headers: framed });
    outgoing.on('response', (incoming) => void receive(incoming).then(resolve, reject));
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

async function receive(incoming: IncomingMessage): Promise<Received> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const { statusCode = 0, rawHeaders } = incoming;
  const headers = new Headers();
  for (let i = 0; i < rawHeaders.length; i += 2) headers.append(rawHeaders[i], rawHeaders[i + 1]);
  const bytes = Buffer.concat(chunks);
  return { status: statusCode, headers, text: utf8.decode(decompressed(bytes, headers.get('content-encoding'))) };
}

function decompressed(bytes: Buffer, encoding: string | null): Buffer {
  if (bytes.length === 0) return bytes;
  if (encoding === 'gzip') return gunzipSync(bytes);
  return encoding === 'br' ? brotliDecompressSync(bytes) : bytes;
}
