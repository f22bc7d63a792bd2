/** The body of a delivery of a webhook. */
export interface WebhookMessage {
  /** The type of the resource and the change: `products.updated`. */
  type: string;
  /** The moment of the change, as in `data`. */
  timestamp: string;
  data: {
    /** The type of the resource: its name in the paths. `webhooks` for a test. */
    type: string;
    id: number;
    change: 'CREATED' | 'UPDATED' | 'DELETED' | 'TEST';
    /** The version after the change; the last one of a deleted resource. Null for a test. */
    version: number | null;
    at: string;
    /** The resource at the moment of sending, which may be newer than the change. Null if there is none any more. */
    resource: Record<string, unknown> | null;
  };
}

/** A request as a receiver has it: `Request` of the Web, `IncomingMessage` of Node, or what a framework makes of them. */
export interface WebhookRequest {
  headers: Headers | Record<string, string | readonly string[] | undefined>;
  /** The body as it came, before anybody has parsed it. */
  body: string | Uint8Array;
}

export interface VerifyOptions {
  /** By how many seconds the clocks may differ, and how old a message may be. Default: 300 */
  tolerance?: number;
}

/** A request that isn't what the service has sent, or was sent long ago. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';

  constructor(readonly reason: 'HEADERS' | 'TIMESTAMP' | 'SIGNATURE') {
    super(`The webhook is not verified: ${reason}`);
  }
}

const PREFIX = 'whsec_';
const VERSION = 'v1,';
/** Signatures that are tried: there are two during a rotation. */
const MAX_SIGNATURES = 10;
const HMAC = { name: 'HMAC', hash: 'SHA-256' };

/**
 * The message of a request, if one of the secrets has signed it (Standard Webhooks).
 * @param secrets `whsec_...` of the webhook; of several, any
 * @throws {WebhookVerificationError}
 */
export async function verifyWebhook(
  { headers, body }: WebhookRequest,
  secrets: string | readonly string[],
  { tolerance = 300 }: VerifyOptions = {},
): Promise<WebhookMessage> {
  const [id, timestamp, signatures] = ['id', 'timestamp', 'signature'].map((name) =>
    valueOf(headers, `webhook-${name}`),
  );
  if (!id || !timestamp || !signatures) throw new WebhookVerificationError('HEADERS');
  if (!(Math.abs(Date.now() / 1_000 - Number(timestamp)) <= tolerance)) throw new WebhookVerificationError('TIMESTAMP');
  const sent = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  const signed = joined(new TextEncoder().encode(`${id}.${timestamp}.`), sent);
  for (const secret of [secrets].flat()) {
    if (await isSignedBy(secret, signatures, signed))
      return JSON.parse(new TextDecoder().decode(sent)) as WebhookMessage;
  }
  throw new WebhookVerificationError('SIGNATURE');
}

async function isSignedBy(secret: string, signatures: string, signed: Uint8Array<ArrayBuffer>): Promise<boolean> {
  const bytes = bytesOf(secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret);
  if (!bytes?.length) throw new TypeError('A secret of a webhook begins with whsec_, and Base64 follows');
  const key = await crypto.subtle.importKey('raw', bytes, HMAC, false, ['verify']);
  for (const text of signatures.split(' ', MAX_SIGNATURES)) {
    const signature = text.startsWith(VERSION) ? bytesOf(text.slice(VERSION.length)) : undefined;
    if (signature && (await crypto.subtle.verify('HMAC', key, signature, signed))) return true;
  }
  return false;
}

function valueOf(headers: WebhookRequest['headers'], name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined;
  const [, value] = Object.entries(headers).find(([own]) => own.toLowerCase() === name) ?? [];
  return typeof value === 'string' ? value : undefined;
}

/** Undefined for a text that is no Base64. */
function bytesOf(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function joined(one: Uint8Array, other: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(one.length + other.length);
  both.set(one);
  both.set(other, one.length);
  return both;
}
