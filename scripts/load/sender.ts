import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { isFailure, type Journal } from './journal';

/**
 * How long one attempt may take from the moment when it has a connection, and how long a request is repeated, in
 * milliseconds. The wait for a connection has no limit: an attempt that is given up there would break off just as it is
 * sent, and a service that falls behind for a moment would never be answered in time again.
 */
const ATTEMPT = 10_000;
const PATIENCE = 30_000;
const FIRST_PAUSE = 50;
const LONGEST_PAUSE = 1_000;
const MAX_ANSWER = 16 * 1024 * 1024;

export interface Sending {
  method: string;
  /** The path below /api/v1. */
  path: string;
  body?: object;
  headers?: Record<string, string>;
  /** When it was due, by the clock of `performance`. Default: now */
  due?: number;
}

export interface Answer {
  /** 0 if no attempt was answered. */
  status: number;
  headers: Record<string, string | string[] | undefined>;
  // The parsed JSON; undefined if there is none.
  body: { data?: unknown; error?: { code: string; fields?: { rule: string }[] } } | undefined;
  attempts: number;
  /** True if an attempt failed whose effect isn't known. */
  uncertain: boolean;
}

const NO_ANSWER: Omit<Answer, 'attempts' | 'uncertain'> = { status: 0, headers: {}, body: undefined };

/** Sends requests as a careful client does: what broke off is sent again, a POST with the same Idempotency-Key. */
export class Sender {
  private readonly agent: HttpAgent;
  private readonly request: typeof httpRequest;

  constructor(
    private readonly url: string,
    connections: number,
    private readonly journal: Journal,
  ) {
    const isSecure = url.startsWith('https:');
    const options = { keepAlive: true, maxSockets: connections, timeout: ATTEMPT };
    this.agent = isSecure ? new HttpsAgent(options) : new HttpAgent(options);
    this.request = isSecure ? httpsRequest : httpRequest;
  }

  /** Sends until there is an answer that another attempt wouldn't change. */
  async send({ due = performance.now(), ...sending }: Sending): Promise<Answer> {
    const deadline = performance.now() + PATIENCE;
    let uncertain = false;
    for (let attempts = 1, pause = FIRST_PAUSE; ; attempts++, pause = Math.min(2 * pause, LONGEST_PAUSE)) {
      const answer = await this.attempt(sending);
      const { status } = answer;
      if (!isPassing(answer) || performance.now() > deadline) {
        this.journal.done.push({ due, ms: performance.now() - due, status, attempts });
        return { ...answer, attempts, uncertain };
      }
      uncertain ||= isFailure(status);
      await sleep(Math.random() * pause + pause / 2);
    }
  }

  close(): void {
    this.agent.destroy();
  }

  private async attempt(sending: Omit<Sending, 'due'>): Promise<Omit<Answer, 'attempts' | 'uncertain'>> {
    let at = performance.now();
    const begin = () => (at = performance.now());
    const answer = await this.exchange(sending, begin).catch(() => NO_ANSWER);
    const { method } = sending;
    this.journal.attempts.push({ at, ms: performance.now() - at, status: answer.status, method });
    return answer;
  }

  private exchange({ method, path, body, headers }: Omit<Sending, 'due'>, begin: () => void) {
    const text = body && JSON.stringify(body);
    const all = {
      Accept: 'application/json',
      ...(text && { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) }),
      ...headers,
    };
    return new Promise<Omit<Answer, 'attempts' | 'uncertain'>>((resolve, reject) => {
      const options = { method, agent: this.agent, headers: all };
      const outgoing = this.request(`${this.url}/api/v1${path}`, options, (response) => {
        const chunks: Buffer[] = [];
        let size = 0;
        response.on('data', (chunk: Buffer) => {
          chunks.push(chunk);
          if ((size += chunk.length) > MAX_ANSWER) response.destroy();
        });
        response.on('error', reject);
        response.on('close', () => {
          if (!response.complete) return reject(new Error('half an answer'));
          const { statusCode: status = 0, headers } = response;
          resolve({ status, headers, body: parsed(Buffer.concat(chunks).toString()) });
        });
      });
      outgoing.on('error', reject);
      outgoing.once('socket', () => {
        begin();
        const giveUp = setTimeout(() => outgoing.destroy(new Error('no answer in time')), ATTEMPT);
        outgoing.once('close', () => clearTimeout(giveUp));
      });
      outgoing.end(text);
    });
  }
}

function parsed(text: string): Answer['body'] {
  try {
    return JSON.parse(text) as Answer['body'];
  } catch {
    // An answer of something before the service, or one without a body.
    return undefined;
  }
}

/** True for an answer after which the same request is sent again. */
function isPassing({ status, body }: Pick<Answer, 'status' | 'body'>): boolean {
  if (isFailure(status) || status === 429) return true;
  // The first attempt with this key still runs.
  return status === 409 && body?.error?.fields?.some(({ rule }) => rule === 'key') === true;
}
