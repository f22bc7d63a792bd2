/**
 * The public names of the platform, which resources, features and their migrations import. Other names may change
 * without notice. Every resource needs the first six groups: `docs/adding-a-resource.md` shows them in use. The others
 * are for features and programs: see `docs/nest.md`. Names for tests: `./testing`.
 */

// Access: a route without declared access stops the start.
/** `@Public()` lets anybody in, `@Roles(Role.USER)` callers with one of these roles. `@CurrentUser()` injects the caller. */
export { CurrentUser, Public, Roles } from './auth/access.decorators';
/** The caller and the roles. An administrator is also a user. */
export { type Caller, isAdmin, Role, ROLES } from './auth/caller';
/** The 403 for a caller who is neither the owner nor an administrator, to document it; and the function that throws it. */
export { notTheOwner, requireSelfOrAdmin } from './auth/auth-errors';

// Routes: decorators that begin with Api only document; the others also set what they say.
/** 200 with a resource; 204; 200 with a page; 200 with an object that isn't a resource; 201 with a created resource. */
export { Answers, AnswersNothing, AnswersPage, AnswersWhole, Creates } from './routes/route.decorators';
/** The group of a controller, the example of a body, the headers of all answers, and further errors of a route. */
export { ApiAnswerHeaders, ApiExampleBody, ApiResource, Raises } from './routes/route.decorators';
/** The precondition of `If-Match`, as an argument. Pass it to the function that writes the row. */
export { IfMatch } from './input/if-match';
/** Its type, and the error of a row that doesn't fulfil it (412). */
export { type Precondition, StaleVersionError } from './transactions/precondition';
/** Media types other than JSON: those that the handler produces, any type, and the type that `Accept` prefers. */
export { ANY_TYPE, ProducedType, Produces } from './pipeline/accept.guard';
/** JSON without the envelope. */
export { Verbatim } from './answers/envelope';
/** Announces the end of a route by `Deprecation`, `Sunset` and `Link`. */
export { Deprecated } from './http/deprecated';
/** Accepts an `Idempotency-Key` without {@link Creates}; its isolation level; or the reason why a POST accepts no key. */
export { Idempotent, KeyedIsolation, TakesNoKey } from './idempotency/idempotent';
/** A limit of the body other than JSON_BODY_LIMIT, in bytes: `@BodyLimit(mebibytes(5))`. */
export { BodyLimit } from './pipeline/body-limit';
/** A time limit other than REQUEST_TIMEOUT, in milliseconds: `@TakesUpTo(minutes(5))`. */
export { TakesUpTo } from './pipeline/time-limit.decorator';

// Input and output: one decorator for each attribute or parameter validates, converts and documents it.
/** The attributes of a DTO. */
export { EmailAddress, Id, ListOf, Money, OneOf, SomeOf, Text, Timestamp, Whole } from './input/attributes';
/** An attribute with rules of its own. */
export { attribute, rule } from './input/attribute';
/** The attributes `id`, `created_at` and `updated_at` of every resource's DTO, and their values from a row. */
export { ResourceDto, resourceOf } from './answers/resource.dto';
/** The body of a POST or PUT, made of attributes of the resource's DTO: which are required, and the defaults of the others. */
export { InputOf } from './input/input-of';
/** The id of a resource in the path, or its random key. */
export { IdParam } from './input/id.pipe';
export { KeyParam } from './input/key.pipe';
/** Parameters of the query. Texts and names take the decorators of attributes. */
export { IdParameter, WholeParameter } from './input/query-parameters';
export { BooleanParameter, EnumParameter, UuidParameter } from './input/value-parameters';
export { DateParameter, DecimalParameter, MomentParameter } from './input/value-parameters';
/** The query of a collection: `page`, `size`, `cursor`, `sort`, `search`, `status` and `fields`. */
export { type ListQuery, ListQueryOf } from './lists/list-query';
/** The query of a single resource with parameters besides `fields`. */
export { ItemQueryOf } from './input/item-query';

// Rows and lists: each helper is one statement. It throws the 404, and compares `If-Match` in the statement itself (412).
/** The columns of every resource. Its rows have an entity tag. */
export { ResourceEntity } from './rows/resource.entity';
/** `@SortableBy('name')`, `@SearchableBy('name')`: what a list is sorted by, and searched in. Each column has an index. */
export { SearchableBy } from './rows/searchable-by';
export { SortableBy } from './rows/sortable-by';
/** Reads, inserts, changes or deletes one row. Reads of the same moment share a statement. */
export { readRow } from './rows/read-row';
export { insertRow } from './rows/insert-row';
export { updateRow } from './rows/update-row';
export { deleteRow } from './rows/delete-row';
/** Gives a row a new version, for changes of other tables that its representation shows. */
export { touchRow } from './rows/touch-row';
/** Compares `If-Match` with a row that is locked, or with one that will be. @throws {StaleVersionError} */
export { requireExpected, requireExpectedSoFar } from './transactions/require-expected';
/** The requested page of an entity's rows. */
export { paginate, type PaginateOptions } from './lists/paginate';
/** A page; its `map()` makes the representations. */
export { Page } from './answers/page';
/** For migrations: counts the rows of a table, so that totals cost nothing. */
export { countRows, uncountRows } from './rows/count-rows';

// Errors: the same object is thrown, answered and documented.
/** An error with a code; and the 400 for violated rules that no decorator knows. */
export { ApiError, type FieldViolation, validationError } from './errors/api-error';
/** The 409 for a value that another row has. */
export { alreadyTaken } from './errors/database-errors';
/** Gives the 404 of an entity its own code. */
export { NotFoundCode } from './errors/not-found';
/** Declares codes of a resource; and the code of a status. */
export { codeOfStatus, declareErrors, type ErrorCode } from './errors/error-codes';

// Settings and units: the start reads the settings of all modules together, and refuses a wrong value.
/** The settings of the service. */
export { Settings } from './config/settings';
/** A module's own settings, with checks of their combinations. */
export { type Contradiction, declareSettings } from './config/declared-settings';
/** The rules of settings, beside those of class-validator. */
export { CheckedSetting, TextSetting, WholeSetting } from './config/setting-rules';
/** Both stop the start with a message for the operator. That of wrong settings never contains their values. */
export { StartupError } from './config/startup-error';
export { SettingsError } from './config/read-settings';
/** Durations in milliseconds, sizes in bytes; and durations in seconds, for settings. */
export { days, gibibytes, hours, kibibytes, mebibytes, minutes, seconds } from './units';
export { SECONDS_PER_DAY, SECONDS_PER_HOUR, SECONDS_PER_MINUTE } from './units';

// Transactions and jobs: database work beside the helpers for rows.
/** Runs a listener after the commit of the current transaction. */
export { afterCommit } from './database/api-data-source';
/** The database work of a request, which ends with it. */
export { UnitOfWork } from './transactions/unit-of-work';
/** Gives statements of a job or a command their own time limit, in milliseconds. */
export { inBackground } from './transactions/in-background';
/** Runs one of several processes at a time, by an advisory lock. */
export { withLock } from './database/with-lock';
/** For tenants with their own database sessions, whose reads must not be shared. */
export { keepSessionsApart } from './rows/kept-apart';
/** The name of the unique constraint that a statement has violated. */
export { violatedUniqueConstraint } from './rows/unique-violation';
/** No connection to the database is available. The answer is 503. */
export { ConnectionError } from './transactions/connection-error';
/** The PostgreSQL server and its URL, for connections outside the pool. */
export { DatabaseServer } from './database/database-server';

// Limits: callers share fairly, and strangers can't fill the memory.
/** Counts hits by key in fixed windows, in memory or in Redis. */
export { type Count, Counter, type Hit, RateLimits } from './limits/rate-limits';
/** Limits how many callers work at once and how many wait; a queue in which keys take turns; and counts by key. */
export { Semaphore } from './limits/semaphore';
export { FairQueue, type QueueKeys } from './limits/fair-queue';
export { Tally } from './limits/tally';
/** The network of a client: an IPv4 address, or a /64 of IPv6. Its neighbourhood: a /24, or a /48 of IPv6. */
export { neighbourhoodOf, networkOf } from './limits/client-network';

// Authentication: for other credentials than tokens, and for controllers of libraries.
/** The ways to authenticate of a route, such as API keys; and those of routes that name none. */
export { DEFAULT_STRATEGIES, Strategies } from './auth/strategies';
/** Documents the credentials of a strategy, for Swagger UI. */
export { declareSecurity } from './docs/security-schemes';
/** Declares the access of a library's controller, which can't be decorated. */
export { declareAccess } from './auth/access.decorators';
/** Looks the caller up again, even right before COMMIT: for effects whose right may have ended meanwhile. */
export { Callers } from './auth/callers';

// Accounts: for resources that sign users in.
/** What authentication needs to know about users. The users resource provides it. */
export { type Insertion, type Newcomer, UserDirectory } from './auth/user-directory';
/** Sessions: a sign-in starts one, and refresh tokens prolong it. */
export { Sessions, type TokenPair } from './auth/sessions';
/** The public keys of access tokens. */
export { SigningKeys } from './auth/signing-keys';
/** Hashes and verifies passwords, a few at a time; each user changes one at a time. */
export { hashPassword, oneChangeAtATime, verifyPassword } from './auth/passwords';
/** Who may have a password here, and the 403 for users of the identity provider. */
export { addressIsElsewhere, LocalPasswords, signsInElsewhere } from './auth/local-passwords';
/** The 401 that tells the client what is wrong with its token. */
export { AuthenticationError } from './auth/auth-errors';
/** Writes the log lines of sign-ins, passwords and rights. */
export { actsOnItself, SecurityEvents } from './auth/security-events';
/** The form by which usernames and e-mail addresses are compared. */
export { identityKey } from './text/identity-key';

// Protocols: for features whose requests aren't only JSON.
/** Entity tags of an answer that isn't a DTO; and the view of a row that a representation shows. */
export { knownTag, quoted, VIEW } from './http/entity-tag';
/** Headers in the document: the schema of a text, that of an entity tag, and further headers of errors. */
export { headerText } from './docs/headers';
export { ENTITY_TAG } from './docs/conditions';
export { describeErrorHeaders } from './docs/error-responses';
/** Lets scripts of other origins read an answer header. */
export { exposeHeaders } from './http/exposed-headers';
/** What decorators tell the document about a route. */
export { Extension } from './http/route-keys';
/** What decorators say about a route, cached. */
export { RouteMetadata } from './http/route-metadata';
/** The time limit of a request, and the least rate of a slow client, in bytes per second. */
export { MIN_RATE, TimeLimit } from './http/time-limit';
/** Tells when no more of a body arrives or is needed. */
export { onBodyEnd } from './http/body-end';
/** Texts from elsewhere than a DTO: their common form (NFC), their length in code points, their combining marks. */
export { compose, hasTooManyMarks } from './text/composed-text';
export { hasLength, normalise } from './text/text';
export { marksMessage } from './input/text-attributes';

// Programs: for main.ts, app.module.ts, ormconfig.ts and commands.
/** All modules of the platform. */
export { PlatformModule } from './platform.module';
/** Starts the service, in one process or several, and stops it on a signal. */
export { run } from './process/run';
/** The demo accounts that the start tells of. */
export type { Demo } from './process/startup';
/** Creates the application before it listens. */
export { createApplication } from './process/create-application';
/** The settings without an application. */
export { ConfigModule } from './config/config.module';
export { environmentSettings } from './config/read-settings';
/** The database without an application, and the PostgreSQL that is used without DATABASE_URL. */
export { DatabaseModule } from './database/database.module';
export { dataSourceOptions } from './database/data-source';
export { startEmbeddedPostgres } from './database/embedded-postgres';
