import type { Context } from '@opentelemetry/api';
import type { Caller } from '../auth/caller';
import type { UnitOfWork } from '../transactions/unit-of-work';
import type { TimeLimit } from './time-limit';
import type { Representation, Version } from './api-version';

declare module 'express-serve-static-core' {
  interface Request {
    /** The id in `X-Request-Id` and in every log line of this request. */
    id: string;
    /** The id of the trace that the request belongs to. Undefined without traces. */
    traceId?: string;
    /** The span of the request, as OpenTelemetry passes it on. A request that isn't sampled has none until it is asked for. */
    traceContext?: Context;
    /** When the request arrived, in milliseconds of the monotonic clock. */
    startedAt: number;
    /**
     * Since when the request may wait for a read that it shares with others, by the same clock: Infinity while it waits for
     * none. Default: since it arrived
     */
    readsSince?: number;
    /** True if the request waits for something to happen. Its duration tells nothing of the service. */
    awaitsEvents?: boolean;
    /** Ends the request with 503 when its time is up. */
    timeLimit?: TimeLimit;
    /** The database work of the request. Undefined if it only reads. */
    work?: UnitOfWork;
    /** True if the handler takes the precondition of the request, which a POST has only then. */
    isConditional?: boolean;
    /** The method that the client sent, if a header overrides it. */
    methodAsSent?: string;
    /** The URL before the version was removed from it. */
    urlAsSent?: string;
    /** The requested version of the API; undefined outside of the API. */
    version?: Version;
    /** The form of the answer; undefined if `Accept` allows none. */
    representation?: Representation;
    /** The media type that was chosen instead of JSON, among those that the route produces. */
    produces?: string;
    /** The beginning of the path, e.g. `/api/v1`, with which links of the answer begin. */
    apiRoot?: string;
    /** The bytes of the body, like in Nest's `RawBodyRequest`. */
    rawBody?: Buffer;
    /** The requested attributes of a single resource. */
    fields?: string[];
    /** Adds the rows that `include` names to the value of the handler. Undefined if it names none. */
    includes?: { into: (body: object) => Promise<object> };
  }
}

declare global {
  // Passport declares `user` by this interface, so the name is given.
  // eslint-disable-next-line @typescript-eslint/no-namespace
  namespace Express {
    // eslint-disable-next-line @typescript-eslint/no-empty-object-type
    interface User extends Caller {}
  }
}
