/**
 * The face of the platform: all that resources, features and their migrations import. A name that is not here may change
 * without notice. `docs/adding-a-resource.md` shows the first four groups at work; `docs/nest.md` has the rest.
 */

// Who may call a route. A route that says nothing stops the start.

/** `@Public()`: anybody. `@Roles(Role.USER)`: callers with one of these roles. `@CurrentUser()`: the caller, as an argument. */
export { CurrentUser, Public, Roles } from './auth/access.decorators';
/** Declares the access of a library's controller, which can't be decorated. */
export { declareAccess } from './auth/access.decorators';
/** Who calls, which roles there are, and whether the caller is an administrator. */
export { type Caller, isAdmin, Role, ROLES } from './auth/caller';
/** 403 unless the caller owns the row or is an administrator, and the error itself, to document it. */
export { notTheOwner, requireSelfOrAdmin } from './auth/auth-errors';
/** Looks the caller up again, once more before COMMIT: for effects whose right may have ended meanwhile. */
export { Callers } from './auth/callers';
/** Other ways to authenticate beside the token, such as an API key. */
export { DEFAULT_STRATEGIES, Strategies } from './auth/strategies';
/** Documents how a strategy is asked: a scheme for Swagger UI. */
export { declareSecurity } from './docs/security-schemes';
/** The guard that asks the strategies, by which a test may override it. */
export { JwtAuthGuard } from './auth/jwt-auth.guard';

// What a route answers. These decorators do what they say; those that begin with Api only document.

/** 200 with one resource; 201 with what was created; 200 with a page; 200 with an object that is no resource; 204. */
export { Answers, AnswersNothing, AnswersPage, AnswersWhole, Creates } from './routes/route.decorators';
/** The group in the documentation, a body to try the route with, and the errors that the route adds. */
export { ApiAnswerHeaders, ApiExampleBody, ApiResource, Raises } from './routes/route.decorators';
/** A media type other than JSON, which the route produces itself. */
export { ANY_TYPE, ProducedType, Produces } from './pipeline/accept.guard';
/** An answer without the envelope. */
export { Verbatim } from './answers/envelope';
/** Announces the end of a route by `Deprecation`, `Sunset` and `Link`. */
export { Deprecated } from './http/deprecated';
/** Takes an `Idempotency-Key` without {@link Creates}, or says why a POST takes none; the isolation of such a request. */
export { Idempotent, KeyedIsolation, TakesNoKey } from './idempotency/idempotent';
/** A limit of the body other than JSON_BODY_LIMIT, in bytes. */
export { BodyLimit, kibibytes, mebibytes } from './pipeline/body-limit';
/** A time limit other than REQUEST_TIMEOUT, in milliseconds. */
export { minutes, seconds, TakesUpTo } from './pipeline/takes-up-to';

// What a DTO may say: one decorator for each attribute validates, converts and documents it.

export { EmailAddress, Id, ListOf, Money, OneOf, SomeOf, Text, Whole } from './input/attributes';
/** An attribute with a rule of its own. */
export { attribute, rule } from './input/attribute';
/** What every resource's DTO has: `id`, `created_at`, `updated_at`; and its values, taken from a row. */
export { ResourceDto, resourceOf } from './answers/resource.dto';
/** Identifiers in the path. */
export { IdParam } from './input/id.pipe';
export { KeyParam } from './input/key.pipe';
/** What `If-Match` demands of the row that a route changes, to be passed to what writes the row. */
export { IfMatch } from './input/if-match';
/** Parameters of the query. */
export { IdParameter, WholeParameter } from './input/query-parameters';
export {
  BooleanParameter,
  DateParameter,
  DecimalParameter,
  EnumParameter,
  MomentParameter,
  UuidParameter,
} from './input/value-parameters';
/** The query of a single resource: `fields`. */
export { ItemQueryOf } from './input/item-query';

// Rows and lists.

/** The columns that every resource has, and whose rows have an entity tag. */
export { ResourceEntity } from './rows/resource.entity';
/** One row: 404 when there is none; writes compare `If-Match` in the statement itself (412). */
export { deleteRow } from './rows/delete-row';
export { insertRow } from './rows/insert-row';
export { readRow } from './rows/read-row';
export { touchRow } from './rows/touch-row';
export { updateRow } from './rows/update-row';
/** Compares `If-Match` with a row that is locked, or that is about to be. */
export { requireExpected, requireExpectedSoFar } from './transactions/require-expected';
export { type Precondition, StaleVersionError } from './transactions/precondition';
/** `page`, `size`, `cursor`, `sort`, `search` and filters of a collection, and the page that they ask for. */
export { type ListQuery, ListQueryOf } from './lists/list-query';
export { paginate, type PaginateOptions } from './lists/paginate';
export { Page } from './answers/page';
/** For migrations: keeps the number of rows of a table, so that totals cost nothing. */
export { countRows, uncountRows } from './rows/count-rows';
/** Runs a listener when the transaction has committed. */
export { afterCommit } from './database/api-data-source';
/** Gives statements of a job or a command a time limit of their own. */
export { inBackground } from './transactions/in-background';
/** Which request a statement belongs to, and what ends with it. */
export { UnitOfWork } from './transactions/unit-of-work';
/** For sessions of tenants: whose reads are never shared. */
export { keepSessionsApart } from './rows/kept-apart';
/** Runs one of several processes at a time, by an advisory lock. */
export { withLock } from './database/with-lock';
/** The name of the constraint that a statement broke. */
export { violatedUniqueConstraint } from './rows/unique-violation';

// Errors. What is thrown is what is answered and documented.

export { ApiError, type FieldViolation, validationError } from './errors/api-error';
export { codeOfStatus, declareErrors, type ErrorCode } from './errors/error-codes';
/** The filter that answers the error envelope, for filters that extend it. */
export { ErrorFilter } from './pipeline/error.filter';
/** Gives the 404 of an entity a code of its own. */
export { NotFoundCode } from './errors/not-found';
/** 409 for an attribute whose value another row has. */
export { alreadyTaken } from './errors/database-errors';

// Settings and limits.

export { SettingsError } from './config/read-settings';
export { Settings } from './config/settings';
/** Settings of a module's own, the rules of their values, and what may be wrong with several of them together. */
export { type Contradiction, declareSettings } from './config/declared-settings';
export { CheckedSetting, TextSetting, WholeSetting } from './config/setting-rules';
export { StartupError } from './config/startup-error';
/** Counts hits by key, in memory or in Redis. */
export { type Count, Counter, type Hit, RateLimits } from './limits/rate-limits';
/** The network of a client: an address of version 4, or the /64 of version 6. Its neighbourhood: a /24, or a /48 of version 6. */
export { neighbourhoodOf, networkOf } from './limits/client-network';
/** What is shared fairly among callers: places, and numbers of them. */
export { FairLine, type LineKeys } from './limits/fair-line';
export { Semaphore } from './limits/semaphore';
export { Tally } from './limits/tally';

// Accounts: for the resources that sign users in.

export { AuthenticationError } from './auth/auth-errors';
export { addressIsElsewhere, LocalPasswords, signsInElsewhere } from './auth/local-passwords';
export { hashPassword, oneChangeOf, verifyPassword } from './auth/passwords';
export { itself, SecurityEvents } from './auth/security-events';
export { Sessions, type TokenPair } from './auth/sessions';
export { SigningKeys } from './auth/signing-keys';
/** What authentication has to know of users, told by the resource that has them. */
export { type Insertion, type Newcomer, UserDirectory } from './auth/user-directory';
export { identityKey } from './text/identity-key';

// Protocols: for features whose requests are more than JSON.

export { ConnectionError } from './transactions/connection-error';
export { DatabaseServer } from './database/database-server';
export { ENTITY_TAG } from './docs/conditions';
export { describeErrorHeaders } from './docs/error-responses';
export { headerText } from './docs/headers';
export { exposeHeaders } from './http/exposed-headers';
export { Extension } from './http/route-keys';
export { RouteMetadata } from './http/route-metadata';
export { knownTag, quoted, VIEW } from './http/entity-tag';
export { MIN_RATE, TimeLimit } from './http/time-limit';
export { whenOver } from './http/when-over';
export { marksMessage } from './input/text-attributes';
export { compose, hasTooManyMarks } from './text/composed-text';
export { hasLength, normalise } from './text/text';

// Programs: what main.ts, app.module.ts, ormconfig.ts, commands and tests are composed of.

/** All modules of the platform. */
export { PlatformModule } from './platform.module';
/** Starts the service, in one process or several, and ends it on a signal. */
export { run } from './process/run';
export type { Demo } from './process/startup';
/** The application as it serves, before it listens; and what Nest wants on an application that was made otherwise. */
export { configureApp } from './process/configure-app';
export { createApplication } from './process/create-application';
/** The settings without an application. */
export { ConfigModule } from './config/config.module';
export { environmentSettings, readSettings } from './config/read-settings';
/** The database without an application. */
export { ApiDataSource } from './database/api-data-source';
export { dataSourceOptions } from './database/data-source';
export { DatabaseModule } from './database/database.module';
export { startEmbeddedPostgres } from './database/embedded-postgres';
