/**
 * The public names for tests, in the same way as `../index.ts` for resources. Only tests import them: `npm run build`
 * leaves this folder out. `docs/adding-a-resource.md` shows a test.
 */

// The application: that of main.ts, by its module, with a database and a port of its own.
/** Starts an application and stops it: `TestApp.start(AppModule, { imports, override, settings })`. Has its log lines. */
export { TestApp, type TestAppOptions } from './test-app';
/** Requests to a running application, without a token or `as(user)`. To be extended by a project's own callers. */
export { AppClient, useApp } from './app-client';
/** Creates the application from `Test.createTestingModule({ imports: [AppModule] }).compile()`, e.g. for supertest. */
export { createApplication } from '../process/create-application';
/** The HTTP adapter, to create it in two steps: `module.createNestApplication(new ApiAdapter())`, then `configureApp(app)`. */
export { ApiAdapter } from '../server/api-adapter';
/** Configures such an application. */
export { configureApp } from '../process/configure-app';
/** The settings of an environment: `overrideProvider(Settings).useValue(readSettings({ ... }))`. */
export { readSettings } from '../config/read-settings';
/** The guard that identifies callers, to override it. */
export { JwtAuthGuard } from '../auth/jwt-auth.guard';
/** The filter that answers errors, to override it. */
export { ErrorFilter } from '../pipeline/error.filter';

// Requests: by `fetch`, or byte by byte.
/** Sends requests as one caller; the answer has the parsed JSON; `inspect` sees each answer before the test does. */
export { type Answer, Client, type SentRequest } from './client';
/** A connection on which a test writes any bytes, reads late, or leaves early; and one request on a new connection. */
export { type RawAnswer, RawConnection, sendRaw } from './raw-connection';

// Expectations: of the two envelopes, complete, with their headers.
/** Expects an error with this code, and the violated rules of `fields`, and returns its content; or with any code. */
export { expectError, expectErrorEnvelope } from './expectations';
/** Expects a success, and returns its `data`. */
export { expectSuccess } from './expectations';
/** Expects what the answer to a HEAD has of an error. Reads a header of an answer of `fetch` or of a raw connection. */
export { expectErrorHeaders, headerOf } from './expectations';

// Concurrency: a test holds what requests wait for, sends them, and counts. It never sleeps.
/** Keeps a row or a table locked in another transaction, and tells how many connections wait. */
export { RowLock } from './row-lock';
/** Lets no repeated job begin by itself during the tests of a file. */
export { useNoJobs } from './jobs';
/** Waits until a condition holds, for states that emit no event. */
export { waitFor } from './wait-for';
/** `times(10, send)` makes a list, `atOnce(users, send)` works on one, `countStatuses(answers)` is `{ 200: 9, 409: 1 }`. */
export { atOnce, countStatuses, times } from './repetition';

// Databases: each test file has its own.
/** Runs one SQL statement. */
export { query } from './databases';
/** A new database of the service, migrated and without rows, for tests that start the application themselves. */
export { cloneTemplate } from './test-run';
/** Databases for tests of migrations and commands; without a template they are empty. */
export { createDatabase, dropDatabase, withDatabase } from './databases';
/** The SQL statements that the application sends meanwhile, to see that a list needs no statement for each row. */
export { statementsOf } from './statements';
/** Makes a change between two statements of a request, to see that they share a snapshot. */
export { changeAfter } from './statements';
/** For the `globalSetup` of Jest: the database server and the template. Returns what `globalTeardown` calls. */
export { startTestRun, testRun } from './test-run';

// Descriptions: for the tests that ask every resource.
/** The names of an entity's `@SortableBy()`, after `id`. */
export { type SortableEntity, sortableOf } from '../rows/sortable-by';
