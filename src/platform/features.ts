/**
 * Names for features that need more than `./index` has: limits of their own, other protocols than JSON, or other
 * credentials than tokens. `docs/nest.md` shows them in use.
 */

// Limits: callers share fairly, and strangers can't fill the memory.
/** Counts hits by key in fixed windows, in memory or in Redis. */
export { type Count, Counter, type Hit, RateLimits } from './limits/rate-limits';
/** Limits how many callers work at once and how many wait; a queue in which keys take turns; and counts by key. */
export { Semaphore } from './limits/semaphore';
export { FairQueue, type QueueKeys } from './limits/fair-queue';
export { Tally } from './limits/tally';
/** The network of a client: an IPv4 address, or a /64 of IPv6. Its neighbourhood: a /24, or a /48 of IPv6. Its site: a /48. */
export { neighbourhoodOf, networkOf, NETWORKS_OF_SITE, siteOf } from './limits/client-network';

// Metrics: what METRICS_PORT shows beside requests and statements.
/** A number that operators watch: `counter(name, help, labels)` grows by `add(labels)`, `gauge()` also shrinks. */
export { counter, gauge } from './signals/measure';
/** Counts the requests that a limit has refused. */
export { rateLimited } from './signals/operations';

// Traces: what OTEL_EXPORTER_OTLP_ENDPOINT switches on.
/** Options of a request by `node:http` to a server that isn't the operator's, and isn't told the trace. */
export { untraced } from './traces/untraced';

// Protocols: for routes whose requests or answers aren't only JSON.
/** Entity tags of an answer that isn't a DTO; and the view of a row that a representation shows. */
export { knownTag, quoted, VIEW } from './http/entity-tag';
/** A message that the service sends, for the section `webhooks` of the document. */
export { declareWebhook } from './docs/webhooks';
/** Headers in the document: the schema of a text, that of an entity tag, and further headers of errors. */
export { headerText } from './docs/headers';
export { ENTITY_TAG } from './docs/conditions';
export { describeErrorHeaders } from './docs/error-responses';
/** Any media type, and the one that `Accept` prefers. */
export { ANY_TYPE, ProducedType } from './pipeline/accept.guard';
/** Documents the headers of all answers of a route. */
export { ApiAnswerHeaders } from './routes/route.decorators';
/** Remembers a value for each route, such as what decorators say about it. */
export { PerRoute } from './auth/per-route';
/** Lets scripts of other origins read an answer header. */
export { exposeHeaders } from './http/exposed-headers';
/** What decorators tell the document about a route. */
export { Extension } from './http/route-keys';
/** The path of a request, as the client has named it and without its version. */
export { pathsOf } from './routing/version';
/** The time limit of a request, and the least rate of a slow client, in bytes per second. */
export { MIN_RATE, TimeLimit } from './http/time-limit';
/** Tells when no more of a body arrives or is needed. */
export { onBodyEnd } from './http/body-end';
/** The isolation level of a request with an `Idempotency-Key`. */
export { KeyedIsolation } from './idempotency/idempotent';

// Texts: rules of DTOs for texts from elsewhere.
/** Their common form (NFC), their length in code points, and their combining marks. */
export { compose, hasTooManyMarks } from './text/composed-text';
export { hasLength, normalise } from './text/text';
export { marksMessage } from './input/text-attributes';

// Authentication: for other credentials than tokens, and for controllers of libraries.
/** The ways to authenticate of a route, such as API keys; and those of routes that name none. */
export { DEFAULT_STRATEGIES, Strategies } from './auth/strategies';
/** Documents the credentials of a strategy, for Swagger UI. */
export { declareSecurity } from './docs/security-schemes';
/** Declares the access of a library's controller, which can't be decorated. */
export { declareAccess } from './auth/access.decorators';
/** Looks the caller up again, even right before COMMIT: for effects whose right may have ended meanwhile. */
export { Callers } from './auth/callers';

// Database: connections beside the pool of the service.
/** No connection to the database is available. The answer is 503. */
export { ConnectionError } from './transactions/connection-error';
/** The PostgreSQL server and its URL, for connections outside the pool. */
export { DatabaseServer } from './database/database-server';
