import type { LookupFunction, Socket } from 'node:net';
import { isIPv6 } from 'node:net';
import { type ClientRequest, type IncomingMessage, request as requestByHttp } from 'node:http';
import { request as requestByHttps } from 'node:https';
import { untraced } from '../../../platform/features';
import type { NameServer } from './name-server';
import { retryAfterOf } from './retry-after';
import { hostOf, type TargetRules, wrongTarget } from './target';

/** Why an attempt has failed. Nothing of the receiver's answer is in it but the status. */
export enum Failure {
  /** A status other than 2xx. No redirect is followed. */
  STATUS = 'STATUS',
  /** No complete head of an answer in time. */
  TIMEOUT = 'TIMEOUT',
  /** The name of the host has no address. */
  DNS = 'DNS',
  /** The URL or an address of its host is closed to webhooks. */
  ADDRESS = 'ADDRESS',
  /** The certificate isn't valid for the host, or there is no common protocol. */
  TLS = 'TLS',
  /** The connection was refused, or has ended early. */
  CONNECTION = 'CONNECTION',
  /** Nothing was sent: the resource could not be read, or the secret not be opened. */
  INTERNAL = 'INTERNAL',
}

export interface Outcome {
  status: number | null;
  failure: Failure | null;
  /** The seconds that the receiver asks to wait at least. */
  retryAfter?: number;
}

export interface Message {
  url: string;
  headers: Record<string, string>;
  body: string;
}

export interface SendOptions {
  rules: TargetRules;
  names: NameServer;
  /** Milliseconds for the whole attempt. */
  patience: number;
}

/** The bytes of an answer's body that are read, and thrown away, so that the receiver may finish. */
const MAX_ANSWER = 4_096;
/** All bytes that are read on a connection: interim answers (1xx) and empty lines may come without an end. The parser takes a head of 16 KiB. */
const MAX_READ = 65_536;
const OF_TLS = /^(?:ERR_TLS|ERR_SSL|CERT_|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|HOSTNAME_MISMATCH|EPROTO)/;

class Refused extends Error {
  constructor(readonly failure: Failure) {
    super(failure);
  }
}

/** Sends a message once, on a connection of its own. Never throws: every end is an outcome. */
export async function send(message: Message, { rules, names, patience }: SendOptions): Promise<Outcome> {
  const signal = AbortSignal.timeout(patience);
  try {
    // Asked again each time: the settings or the meaning of the name may have changed.
    if (wrongTarget(message.url, rules) !== undefined) throw new Refused(Failure.ADDRESS);
    const url = new URL(message.url);
    const addresses = await addressesOf(url, names, signal);
    if (!addresses.every((address) => rules.networks.allows(address))) throw new Refused(Failure.ADDRESS);
    const { status, retryAfter } = await exchange(url, message, { addresses, rules, signal });
    return { status, failure: status >= 200 && status < 300 ? null : Failure.STATUS, retryAfter };
  } catch (error) {
    return { status: null, failure: failureOf(error, signal) };
  }
}

async function addressesOf(url: URL, names: NameServer, signal: AbortSignal): Promise<string[]> {
  const addresses = await names.addressesOf(hostOf(url), signal);
  if (addresses.length === 0) throw new Refused(Failure.DNS);
  return addresses;
}

/** All that is taken of an answer. */
interface Answer {
  status: number;
  retryAfter?: number;
}

interface Way {
  addresses: string[];
  rules: TargetRules;
  signal: AbortSignal;
}

function exchange(url: URL, { headers, body }: Message, { addresses, rules, signal }: Way): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const begin = url.protocol === 'https:' ? requestByHttps : requestByHttp;
    const length = String(Buffer.byteLength(body));
    // No agent: a connection is never used again, so what was checked of it holds for this attempt.
    const request = begin(url, {
      ...untraced,
      ...{ method: 'POST', agent: false, lookup: among(addresses), signal },
      headers: { ...headers, 'content-length': length },
    });
    request.once('socket', (socket) => {
      checkPeer(socket, request, rules);
      limitReading(socket, request);
    });
    let answer: Answer | undefined;
    // The status counts from the head on, however the rest ends.
    const end = (error: Error) => (answer ? resolve(answer) : reject(error));
    request.once('response', (response) => {
      answer = { status: response.statusCode!, retryAfter: retryAfterOf(response) };
      discard(response);
    });
    // A listener stays: an error may follow the answer.
    request.on('error', end);
    request.once('close', () => end(new Refused(Failure.CONNECTION)));
    request.end(body);
  });
}

/** The connection goes to the addresses that were checked: the name isn't looked up a second time. */
const among =
  (addresses: string[]): LookupFunction =>
  (_host, { all }, callback) => {
    const found = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
    if (all) callback(null, found);
    else callback(null, found[0].address, found[0].family);
  };

/** Looks at the connection's own address, whatever has led to it. Nothing was sent by then. */
function checkPeer(socket: Socket, request: ClientRequest, { networks }: TargetRules): void {
  socket.once('connect', () => {
    if (!networks.allows(socket.remoteAddress ?? '')) request.destroy(new Refused(Failure.ADDRESS));
  });
}

/** Ends a connection that brings too much, whatever the parser makes of it. */
function limitReading(socket: Socket, request: ClientRequest): void {
  let length = 0;
  socket.on('data', (chunk: Buffer) => {
    if ((length += chunk.length) > MAX_READ) request.destroy(new Refused(Failure.CONNECTION));
  });
}

/** Reads the body to its end or to the limit, so that the receiver may finish. The connection is closed then. */
function discard(response: IncomingMessage): void {
  let length = 0;
  response.on('data', (chunk: Buffer) => {
    if ((length += chunk.length) >= MAX_ANSWER) response.destroy();
  });
  response.on('error', () => response.destroy());
}

function failureOf(error: unknown, signal: AbortSignal): Failure {
  if (error instanceof Refused) return error.failure;
  if (signal.aborted) return Failure.TIMEOUT;
  return OF_TLS.test(String((error as NodeJS.ErrnoException).code)) ? Failure.TLS : Failure.CONNECTION;
}
