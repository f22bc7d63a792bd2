import { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import express, { type Express, type Response } from 'express';
import { addressIn } from '../limits/client-address';
import type { StandingHeaders } from '../http/standing-headers';
import { hasRoomFor } from '../answers/unread';
import { searchOf } from '../routing/version';

type Write = (chunk: unknown, ...more: unknown[]) => boolean;
type End = (chunk?: unknown, ...more: unknown[]) => unknown;
type Query = Record<string, string | undefined>;
type StoreHeader = (this: ServerResponse, firstLine: string, headers: object | undefined) => void;

/** A connection keeps its address, and tells it when it is closed as well. */
type KnownSocket = Socket & { clientAddress?: string };

const storeHeader = (ServerResponse.prototype as unknown as { _storeHeader: StoreHeader })._storeHeader;

/**
 * The classes of a server whose messages are Express's from the start. Express gives each message its prototype by
 * Object.setPrototypeOf(), after which V8 on Node 20 looks every property of it up the slow way: two thirds of what a
 * request through Express costs. Here the call finds the prototype in place and does nothing. They must be classes: objects
 * made by Reflect.construct() are as slow.
 */
export function expressMessages(app: Express): {
  IncomingMessage: typeof IncomingMessage;
  ServerResponse: typeof ServerResponse;
} {
  class ExpressRequest extends IncomingMessage {
    private search = '';
    private parsedQuery: Query = {};

    /** Parsed once, unless middleware writes another one: Express does it anew at each look. */
    get query(): Query {
      const search = searchOf(this.url!);
      if (search !== this.search) {
        this.parsedQuery = parseQuery.call(this) as Query;
        this.search = search;
      }
      return this.parsedQuery;
    }

    /** The client's address, for limits, logs and `@Ip()`: what the trusted proxies say, if it is one, else the socket's. */
    get ip(): string | undefined {
      const socket = this.socket as KnownSocket;
      if (this.headers['x-forwarded-for'] !== undefined) {
        const forwarded = addressIn(findIp.call(this));
        if (forwarded) return forwarded;
      }
      return (socket.clientAddress ??= addressIn(socket.remoteAddress));
    }
  }
  class ExpressResponse extends ServerResponse {
    standingHeaders?: StandingHeaders;

    /** Here, as nothing that answers goes around it: what lies unread takes of what all have together. */
    override write(...written: Parameters<Write>): boolean {
      return hasRoomFor(this as unknown as Response, written[0]) && (super.write as Write)(...written);
    }

    override end(...written: Parameters<End>): this {
      if (hasRoomFor(this as unknown as Response, written[0])) (super.end as End)(...written);
      return this;
    }

    /** Node's own, which makes the head of the message. */
    _storeHeader(firstLine: string, headers: object | undefined): void {
      storeHeader.call(this, firstLine + (this.standingHeaders?.linesBeside(headers) ?? ''), headers);
    }
  }

  const { query, ip, ...ofRequest } = Object.getOwnPropertyDescriptors(express.request);
  const parseQuery = query.get!;
  const findIp = ip.get!;
  Object.defineProperties(ExpressRequest.prototype, { ...ofRequest, ...Object.getOwnPropertyDescriptors(app.request) });
  Object.defineProperties(ExpressResponse.prototype, {
    ...Object.getOwnPropertyDescriptors(express.response),
    ...Object.getOwnPropertyDescriptors(app.response),
  });
  app.request = ExpressRequest.prototype as unknown as Express['request'];
  app.response = ExpressResponse.prototype as unknown as Express['response'];
  return {
    IncomingMessage: ExpressRequest,
    ServerResponse: ExpressResponse as unknown as typeof ServerResponse,
  };
}
