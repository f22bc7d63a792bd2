import { IncomingMessage, ServerResponse } from 'node:http';
import express, { type Express } from 'express';

type Query = Record<string, string | undefined>;

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
    private parsedQuery?: Query;

    /** Parsed once: Express does it anew at each look. */
    get query(): Query {
      return (this.parsedQuery ??= parseQuery.call(this) as Query);
    }
  }
  class ExpressResponse extends ServerResponse {}

  const { query, ...ofRequest } = Object.getOwnPropertyDescriptors(express.request);
  const parseQuery = query.get!;
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
