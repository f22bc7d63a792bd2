import type { Caller } from '../auth/caller';
import type { UnitOfWork } from '../transactions/unit-of-work';
import type { TimeLimit } from './time-limit';
import type { Representation, Version } from './api-version';

declare module 'express-serve-static-core' {
  interface Request {
    /** Stands in `X-Request-Id` and in every log line of this request. */
    id: string;
    /** When it arrived, in milliseconds on the monotonic clock. */
    startedAt: number;
    /** When it is answered 503. */
    timeLimit?: TimeLimit;
    /** What it does in the database, unless it only reads. */
    work?: UnitOfWork;
    /** Its URL before its version was taken off. */
    urlAsSent?: string;
    /** Which version of the API it asks for; undefined outside of the API. */
    version?: Version;
    /** How the answer is put; undefined when `Accept` allows nothing that there is. */
    representation?: Representation;
    /** The media type that was chosen instead of JSON, of those that its route produces. */
    produces?: string;
    /** What its path began with, e.g. `/api/v1`: where links of the answer begin. */
    apiRoot?: string;
    /** The bytes of the body that the service has read, as `RawBodyRequest` of Nest has them. */
    rawBody?: Buffer;
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
