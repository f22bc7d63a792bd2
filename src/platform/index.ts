/**
 * The public names of the platform, which resources, features and their migrations import. Other names may change
 * without notice. `docs/adding-a-resource.md` shows the first four groups in use; `docs/nest.md` has the rest.
 */

// Access. A route without declared access stops the start.

/** `@Public()` lets anybody in, `@Roles(Role.USER)` callers with one of these roles. `@CurrentUser()` injects the caller. */
export { CurrentUser, Public, Roles } from './auth/access.decorators';
/** Declares the access of a library's controller, which can't be decorated. */
export { declareAccess } from './auth/access.decorators';
/** The caller, the roles, and a check for administrators. */
export { type Caller, isAdmin, Role, ROLES } from './auth/caller';
/** The 403 for a caller who is neither the owner nor an administrator, to document it; and the function that throws it. */
export { notTheOwner, requireSelfOrAdmin } from './auth/auth-errors';
/** Looks the caller up again, even right before COMMIT: for effects whose right may have ended meanwhile. */
export { Callers } from './auth/callers';
/** Other ways to authenticate beside tokens, such as API keys. */
export { DEFAULT_STRATEGIES, Strategies } from './auth/strategies';
/** Documents the credentials of a strategy, for Swagger UI. */
export { declareSecurity } from './docs/security-schemes';

// Answers. Decorators that begin with Api only document; the others also set what they say.

/** 200 with a resource; 204; 200 with a page; 200 with an object that isn't a resource; 201 with a created resource. */
export { Answers, AnswersNothing, AnswersPage, AnswersWhole, Creates } from './routes/route.decorators';
/** Headers of all answers, an example body, the group in the document, and further errors of a route. */
export { ApiAnswerHeaders, ApiExampleBody, ApiResource, Raises } from './routes/route.decorators';
/** Media types other than JSON, which the handler produces. */
export { ANY_TYPE, ProducedType, Produces } from './pipeline/accept.guard';
/** An answer without the envelope. */
export { Verbatim } from './answers/envelope';
/** Announces the end of a route by `Deprecation`, `Sunset` and `Link`. */
export { Deprecated } from './http/deprecated';
/** Accepts an `Idempotency-Key` without {@link Creates}; its isolation level; or the reason why a POST accepts no key. */
export { Idempotent, KeyedIsolation, TakesNoKey } from './idempotency/idempotent';
/** A limit of the body other than JSON_BODY_LIMIT, in bytes: `@BodyLimit(mebibytes(5))`. */
export { BodyLimit } from './pipeline/body-limit';
/** A time limit other than REQUEST_TIMEOUT, in milliseconds: `@TakesUpTo(minutes(5))`. */
export { TakesUpTo } from './pipeline/time-limit.decorator';

// DTOs: one decorator for each attribute validates, converts and documents it.

export { EmailAddress, Id, ListOf, Money, OneOf, SomeOf, Text, Whole } from './input/attributes';
/** The body of a POST or PUT, made of attributes of the resource's DTO: which are required, and the defaults of the others. */
export { InputOf } from './input/input-of';
/** An attribute with a rule of its own. */
export { attribute, rule } from './input/attribute';
/** The attributes `id`, `created_at` and `updated_at` of every resource's DTO, and their values from a row. */
export { ResourceDto, resourceOf } from './answers/resource.dto';
/** Identifiers in the path. */
export { IdParam } from './input/id.pipe';
export { KeyParam } from './input/key.pipe';
/** The precondition of `If-Match`. Pass it to the function that writes the row. */
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

/** The columns of every resource. Its rows have an entity tag. */
export { ResourceEntity } from './rows/resource.entity';
/** `@SortableBy('name')`: the columns that a list of the entity can be sorted by, each with its index. */
export { SortableBy } from './rows/sortable-by';
/** `@SearchableBy('name')`: the text columns that `search` looks through, each with its trigram index. */
export { SearchableBy } from './rows/searchable-by';
/** One row: 404 when there is none; writes compare `If-Match` in the statement itself (412). */
export { deleteRow } from './rows/delete-row';
export { insertRow } from './rows/insert-row';
export { readRow } from './rows/read-row';
export { touchRow } from './rows/touch-row';
export { updateRow } from './rows/update-row';
/** Compares `If-Match` with a row that is locked, or will be. @throws {StaleVersionError} */
export { requireExpected, requireExpectedSoFar } from './transactions/require-expected';
export { type Precondition, StaleVersionError } from './transactions/precondition';
/** `page`, `size`, `cursor`, `sort`, `search` and filters of a collection, and the requested page. */
export { type ListQuery, ListQueryOf } from './lists/list-query';
export { paginate, type PaginateOptions } from './lists/paginate';
export { Page } from './answers/page';
/** For migrations: counts the rows of a table, so that totals cost nothing. */
export { countRows, uncountRows } from './rows/count-rows';
/** Runs a listener after the commit of the current transaction. */
export { afterCommit } from './database/api-data-source';
/** Gives statements of a job or a command their own time limit, in milliseconds. */
export { inBackground } from './transactions/in-background';
/** The database work of a request, which ends with it. */
export { UnitOfWork } from './transactions/unit-of-work';
/** For tenants with their own database sessions, whose reads must not be shared. */
export { keepSessionsApart } from './rows/kept-apart';
/** Runs one of several processes at a time, by an advisory lock. */
export { withLock } from './database/with-lock';
/** The name of the unique constraint that a statement has violated. */
export { violatedUniqueConstraint } from './rows/unique-violation';

// Errors. The same object is thrown, answered and documented.

export { ApiError, type FieldViolation, validationError } from './errors/api-error';
export { codeOfStatus, declareErrors, type ErrorCode } from './errors/error-codes';
/** Gives the 404 of an entity its own code. */
export { NotFoundCode } from './errors/not-found';
/** 409 for a value that another row has. */
export { alreadyTaken } from './errors/database-errors';

// Settings and limits.

/** Durations in milliseconds, sizes in bytes, and seconds for settings. */
export { days, gibibytes, hours, kibibytes, mebibytes, minutes, seconds } from './units';
export { MS_PER_SECOND, SECONDS_PER_DAY, SECONDS_PER_HOUR, SECONDS_PER_MINUTE } from './units';

export { SettingsError } from './config/read-settings';
export { Settings } from './config/settings';
/** A module's own settings, with checks of their combinations. */
export { type Contradiction, declareSettings } from './config/declared-settings';
export { CheckedSetting, TextSetting, WholeSetting } from './config/setting-rules';
export { StartupError } from './config/startup-error';
/** Counts hits by key, in memory or in Redis. */
export { type Count, Counter, type Hit, RateLimits } from './limits/rate-limits';
/** The network of a client: an IPv4 address, or a /64 of IPv6. Its neighbourhood: a /24, or a /48 of IPv6. */
export { neighbourhoodOf, networkOf } from './limits/client-network';
/** Queues and counts by which callers share fairly. */
export { FairQueue, type QueueKeys } from './limits/fair-queue';
export { Semaphore } from './limits/semaphore';
export { Tally } from './limits/tally';

// Accounts: for resources that sign users in.

export { AuthenticationError } from './auth/auth-errors';
export { addressIsElsewhere, LocalPasswords, signsInElsewhere } from './auth/local-passwords';
export { hashPassword, oneChangeAtATime, verifyPassword } from './auth/passwords';
export { actsOnItself, SecurityEvents } from './auth/security-events';
export { Sessions, type TokenPair } from './auth/sessions';
export { SigningKeys } from './auth/signing-keys';
/** What authentication needs to know about users. The users resource provides it. */
export { type Insertion, type Newcomer, UserDirectory } from './auth/user-directory';
export { identityKey } from './text/identity-key';

// Protocols: for features whose requests aren't only JSON.

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
export { onBodyEnd } from './http/body-end';
export { marksMessage } from './input/text-attributes';
export { compose, hasTooManyMarks } from './text/composed-text';
export { hasLength, normalise } from './text/text';

// Programs: for main.ts, app.module.ts, ormconfig.ts, commands and tests.

/** All modules of the platform. */
export { PlatformModule } from './platform.module';
/** Starts the service, in one process or several, and stops it on a signal. */
export { run } from './process/run';
export type { Demo } from './process/startup';
/** Creates the application before it listens. */
export { createApplication } from './process/create-application';
/** The settings without an application. */
export { ConfigModule } from './config/config.module';
export { environmentSettings } from './config/read-settings';
/** The database without an application. */
export { dataSourceOptions } from './database/data-source';
export { DatabaseModule } from './database/database.module';
export { startEmbeddedPostgres } from './database/embedded-postgres';
