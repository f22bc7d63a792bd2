import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { Express } from 'express';
import { StartupError } from '../config/startup-error';

/** By the prototype of requests: the names of the properties that each request has of its own. */
const ownNames = new WeakMap<object, string[]>();

/** Remembers what requests of a class have of their own, before anybody adds something to the class. */
export function noteOwnProperties(requests: typeof IncomingMessage): void {
  ownNames.set(requests.prototype, Object.keys(new requests(new Socket())));
}

/**
 * Refuses an extension of `app.request` by the name of a property that each request has of its own: nobody would see it.
 * @throws {StartupError}
 */
export function requireSeenExtensions({ request }: Express): void {
  const hidden = (ownNames.get(request) ?? []).filter((name) => Object.hasOwn(request, name));
  if (hidden.length === 0) return;
  throw new StartupError(
    `Each request has these properties of its own, so those of app.request would never be seen; give them other names: ${hidden.join(', ')}`,
  );
}
