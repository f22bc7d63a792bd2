import { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import express, { type Express, type Response } from 'express';
import { addressIn } from '../limits/client-address';
import { ForwardedAddresses } from '../limits/forwarded-addresses';
import type { StandingHeaders } from '../http/standing-headers';
import { reservesMemoryFor } from '../answers/unread-answers';
import { searchOf } from '../routing/version';
import { UnitOfWork } from '../transactions/unit-of-work';
import { noteOwnProperties } from './own-properties';

type Write = (chunk: unknown, ...more: unknown[]) => boolean;
type End = (chunk?: unknown, ...more: unknown[]) => unknown;
type Query = Record<string, string | undefined>;
type StoreHeader = (this: ServerResponse, firstLine: string, headers: object | undefined) => void;

/** Caches the client's address, which a closed connection doesn't have any more. */
type KnownSocket = Socket & { clientAddress?: string };

const storeHeader = (ServerResponse.prototype as unknown as { _storeHeader: StoreHeader })._storeHeader;

/**
 * Classes of messages that have Express's prototypes from the start. Express sets the prototype of each message by
 * Object.setPrototypeOf(), after which V8 on Node 20 looks up all its properties slowly: two thirds of the cost of a
 * request. With these classes the call changes nothing. They must be classes, because objects made by
 * Reflect.construct() are as slow.
 */
export function expressMessages(app: Express): {
  IncomingMessage: typeof IncomingMessage;
  ServerResponse: typeof ServerResponse;
} {
  class ExpressRequest extends IncomingMessage {
    private search = '';
    private parsedQuery: Query = {};
    private forwardedFor?: string | string[] = undefined;
    private forwardedAddress?: string = undefined;
    // What each request gets on its way. V8 would make a class of its own for each step of the way, and look up slowly what is
    // used at many of them.
    override id = '';
    startedAt = undefined;
    traceId = undefined;
    traceContext = undefined;
    timeLimit = undefined;
    work = undefined;
    turns = undefined;
    turn = undefined;
    urlAsSent = undefined;
    representation = undefined;
    version = undefined;
    apiRoot = undefined;
    res = undefined;
    next = undefined;
    baseUrl = undefined;
    originalUrl = undefined;
    params = undefined;
    route = undefined;
    produces = undefined;
    keyed = undefined;
    prefetched = undefined;
    includes = undefined;
    exported = undefined;
    fields = undefined;
    /** Express's own. */
    _parsedUrl = undefined;

    /** Parsed once for each URL. Express parses the query for each access. */
    get query(): Query {
      const search = searchOf(this.url!);
      if (search !== this.search) {
        this.parsedQuery = parseQuery.call(this) as Query;
        this.search = search;
      }
      return this.parsedQuery;
    }

    /**
     * The client's address, for limits, logs and `@Ip()`: that of the trusted proxies' header, or else the socket's.
     * The header is parsed once for each value: middleware may replace it.
     */
    get ip(): string | undefined {
      const socket = this.socket as KnownSocket;
      const forwardedFor = this.headers['x-forwarded-for'];
      if (forwardedFor !== undefined) {
        if (forwardedFor !== this.forwardedFor) {
          const find = () => addressIn(findIp.call(this));
          this.forwardedAddress = forwarded.of(socket.remoteAddress, forwardedFor, find);
          this.forwardedFor = forwardedFor;
        }
        if (this.forwardedAddress) return this.forwardedAddress;
      }
      return (socket.clientAddress ??= addressIn(socket.remoteAddress));
    }
  }
  class ExpressResponse extends ServerResponse {
    standingHeaders?: StandingHeaders = undefined;
    linkLine?: string = undefined;

    /** Every answer passes here, so this is where the memory of unread answers is limited. */
    override write(...written: Parameters<Write>): boolean {
      return reservesMemoryFor(this as unknown as Response, written[0]) && (super.write as Write)(...written);
    }

    override end(...written: Parameters<End>): this {
      if (!reservesMemoryFor(this as unknown as Response, written[0])) return this;
      // Node 24 keeps the context in which the timer of the idle connection is set, and with it the request.
      UnitOfWork.outside(() => (super.end as End)(...written));
      return this;
    }

    /** Node's private function that makes the head of the message. */
    _storeHeader(firstLine: string, headers: object | undefined): void {
      const lines = (this.standingHeaders?.linesBeside(headers) ?? '') + (this.linkLine ?? '');
      storeHeader.call(this, firstLine + lines, headers);
    }
  }

  const { query, ip, ...ofRequest } = Object.getOwnPropertyDescriptors(express.request);
  const parseQuery = query.get!;
  const findIp = ip.get!;
  const forwarded = new ForwardedAddresses();
  Object.defineProperties(ExpressRequest.prototype, { ...ofRequest, ...Object.getOwnPropertyDescriptors(app.request) });
  Object.defineProperties(ExpressResponse.prototype, {
    ...Object.getOwnPropertyDescriptors(express.response),
    ...Object.getOwnPropertyDescriptors(app.response),
  });
  app.request = ExpressRequest.prototype as unknown as Express['request'];
  app.response = ExpressResponse.prototype as unknown as Express['response'];
  noteOwnProperties(ExpressRequest);
  return {
    IncomingMessage: ExpressRequest,
    ServerResponse: ExpressResponse as unknown as typeof ServerResponse,
  };
}
