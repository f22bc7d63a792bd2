import type { Caller } from '../../auth/caller';

declare module 'express-serve-static-core' {
  interface Request {
    /** Stands in `X-Request-Id` and in every log line of this request. */
    id: string;
    /** When it arrived, in milliseconds on the monotonic clock. */
    startedAt: number;
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
