import type { Caller } from '../../auth/caller';
import type { Cursors } from '../lists/cursor';
import type { TimeLimit } from './time-limit';
import type { Representation, Version } from './version';

declare module 'express-serve-static-core' {
  interface Request {
    /** Stands in `X-Request-Id` and in every log line of this request. */
    id: string;
    /** When it arrived, in milliseconds on the monotonic clock. */
    startedAt: number;
    /** When it is answered 503. */
    timeLimit?: TimeLimit;
    /** Which version of the API it asks for; undefined outside of the API. */
    version?: Version;
    /** How the answer is put; undefined when `Accept` allows nothing that there is. */
    representation?: Representation;
    /** What its path began with, e.g. `/api/v1`: where links of the answer begin. */
    apiRoot?: string;
    /** Where a list that is paged by cursors begins, and how it goes on. */
    cursors?: Cursors;
    /** The attributes that a single-resource read asked for. */
    fields?: string[];
  }
}

declare global {
  // Passport declares `user` by this interface; the name is its own.
  // eslint-disable-next-line @typescript-eslint/no-namespace
  namespace Express {
    // eslint-disable-next-line @typescript-eslint/no-empty-object-type
    interface User extends Caller {}
  }
}
