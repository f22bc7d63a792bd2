/**
 * The public names of the platform, which every resource imports, with its migrations: `docs/adding-a-resource.md` shows
 * them in use. Others stand beside this file: `./features` for limits, other protocols and other credentials, `./accounts`
 * for sign-in, `./programs` for `main.ts` and commands, and `./testing` for tests. Names elsewhere may change without
 * notice.
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
/** 201 for one input, or for each of a list; and the body of such a route. */
export { CreatesEach } from './routes/creates-each';
export { InputsOf } from './bulk/inputs';
/** The group of a controller, the example of a body, further media types of the answer, and further errors of a route. */
export { AlsoAnswers, ApiExampleBody, ApiResource, Raises } from './routes/route.decorators';
/** The precondition of `If-Match`, as an argument. Pass it to the function that writes the row. */
export { IfMatch } from './input/if-match';
/** Its type, and the error of a row that doesn't fulfil it (412). */
export { type Precondition, StaleVersionError } from './transactions/precondition';
/** Media types other than JSON that the handler produces. */
export { Produces } from './pipeline/accept.guard';
/** Server-Sent Events, as the value of a handler; where they are written; and the text of one. */
export { type EventSink, EventStream, eventText } from './answers/send-events';
/** JSON without the envelope. */
export { Verbatim } from './answers/envelope';
/** Announces the end of a route by `Deprecation`, `Sunset` and `Link`. */
export { Deprecated } from './http/deprecated';
/** Accepts an `Idempotency-Key` without {@link Creates}; or the reason why a POST accepts none. */
export { Idempotent, TakesNoKey } from './idempotency/idempotent';
/** Reads the row of a path while the caller is identified. */
export { Prefetches } from './routes/prefetches';
/** Reads of this route always go to the primary; and the caller's next reads show at least what this route has told it. */
export { LeadsReads, ReadsPrimary } from './replica/reads-primary';
/** A limit of the body other than JSON_BODY_LIMIT, in bytes: `@BodyLimit(mebibytes(5))`. */
export { BodyLimit } from './pipeline/body-limit';
/** A time limit other than REQUEST_TIMEOUT, in milliseconds: `@TakesUpTo(minutes(5))`. */
export { TakesUpTo } from './pipeline/time-limit.decorator';

// Input and output: one decorator for each attribute or parameter validates, converts and documents it.
/** The attributes of a DTO: texts, and lists of them. */
export { EmailAddress, ListOfTexts, Text, WebAddress } from './input/attributes';
/** Numbers, all of them exact; ids of other resources. */
export { BigInteger, Decimal, Id, ListOfIds, Money, Whole } from './input/attributes';
/** True or false, names of an enum, days and moments, UUIDs; a moment that the service sets. */
export { DateOnly, Flag, Moment, OneOf, SomeOf, Timestamp, Uuid } from './input/attributes';
/** Objects within the resource: of a class of their own, lists of those, and objects of any names. */
export { JsonObject, ListOf, ObjectOf } from './input/attributes';
/** An attribute with rules of its own. */
export { attribute, rule } from './input/attribute';
/** The attributes `id`, `created_at`, `updated_at` and `version` of every resource's DTO, and their values from a row. */
export { ResourceDto, resourceOf } from './answers/resource.dto';
/** The body of a POST or PUT, made of attributes of the resource's DTO: which are required, and the defaults of the others. */
export { InputOf } from './input/input-of';
/** The id of a resource in the path, or its random key. */
export { IdParam } from './input/id.pipe';
export { KeyParam } from './input/key.pipe';
/** Parameters of the query: an id, up to 100 ids, a number. Texts and names take the decorators of attributes. */
export { IdParameter, IdsParameter, WholeParameter } from './input/query-parameters';
export { BooleanParameter, EnumParameter, UuidParameter } from './input/value-parameters';
export { DateParameter, DecimalParameter, MomentParameter } from './input/value-parameters';
/** The query of a collection: `page`, `size`, `cursor`, `sort`, `search`, `status`, `ids` and `fields`. */
export { type ListQuery, ListQueryOf } from './lists/list-query';
/** The query of a single resource with parameters besides `fields`. */
export { ItemQueryOf } from './input/item-query';
/** What `include` may embed: declared with the DTO; the rows that others may include; those of the caller alone. */
export { includable, Includes, onlyOwn } from './input/includes';

// Rows and lists: each helper is one statement. It throws the 404, and compares `If-Match` in the statement itself (412).
/** The columns of every resource. Its rows have an entity tag. */
export { ResourceEntity } from './rows/resource.entity';
/** `@SortableBy('name')`, `@SearchableBy('name')`: what a list is sorted by, and searched in. Each column has an index. */
export { SearchableBy } from './rows/searchable-by';
export { SortableBy } from './rows/sortable-by';
/** Reads, inserts, changes or deletes one row. Reads of the same moment share a statement. */
export { readRow } from './rows/read-row';
export { insertRow } from './rows/insert-row';
/** Inserts many rows by one statement: all of them, or none. */
export { insertRows } from './rows/insert-rows';
export { lockRows } from './rows/lock-rows';
/** SQL for a parameter that is a list, so that PostgreSQL keeps the plan of the statement. */
export { anyNumberOf } from './rows/any-number-of';
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
/** For migrations: keeps the ids of a list of ids true. */
export { linkRows, unlinkRows } from './rows/link-rows';
/** For migrations: makes or drops an index of a table that others write meanwhile. */
export { addIndex, dropIndex } from './rows/add-index';
/** For migrations: each change of a row leaves one audit event. */
export { auditRows, unauditRows } from './rows/audit-rows';
/** Such an event. */
export { AuditEvent } from './rows/audit-event.entity';

// Changes: what GET /changes tells, from the events of `auditRows()` with `readers`.
/** Reads the changes after a position; one of them; and a type of resources. */
export { type Change } from './changes/change-event';
export { Changes, type ChangesRead } from './changes/changes';
export { type ChangedType, changedTypes } from './changes/changed-types';
/** Resources as administrators see them now, for jobs. */
export { currentResources } from './changes/current-resources';
/** Those who wait for changes: by a long poll, or by a stream of events. */
export { ChangeListeners } from './changes/change-listeners';
export { type Following } from './changes/follower';
export { tooManyListeners } from './changes/listener-places';

// Errors: the same object is thrown, answered and documented.
/** An error with a code; the 400 for violated rules that no decorator knows; and the 409 with an entry for each conflict. */
export { ApiError, conflict, type FieldViolation, validationError } from './errors/api-error';
/** The 400 for an id whose row the caller may not read. */
export { requireReadable } from './errors/require-readable';
/** The 409 for values that other rows have. */
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
export { CheckedSetting, TextSetting, WholeSetting, YesOrNoSetting } from './config/setting-rules';
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
/** Repeats the work of a job until the application ends. */
export { RepeatedJob } from './transactions/repeated-job';
/** Runs one of several processes at a time, by an advisory lock. */
export { withLock } from './database/with-lock';
/** Locks a name until the transaction ends, for what no row stands for: alone, or in one message with a statement. */
export { lockAndQuery, lockName } from './transactions/lock-name';
/** For tenants with their own database sessions, whose reads must not be shared. */
export { keepSessionsApart } from './rows/kept-apart';
/** The name of the unique constraint that a statement has violated. */
export { violatedUniqueConstraint } from './rows/unique-violation';
