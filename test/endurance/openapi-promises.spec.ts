import { randomUUID } from 'node:crypto';
import { type Answer, type Client, query, times } from '../../src/platform/testing';
import { inPlace } from '../support/fuzz-requests';
import { Fixtures } from '../support/fixtures';
import { BuiltService } from '../support/built-service';
import { Document, type Node, type Operation, requiredHeaders, schemaOf, toldBy } from '../support/openapi';
import { clientOf, useTestApi } from '../support/test-api';
import { startApp } from '../support/test-app';
import { exampleOf, pathParameters, rank, send, takes, takesBytes } from '../support/documented-operation';
import { collectionOf } from '../support/resources';
import { aWebhook, provokeErrorsOfChanges } from '../support/change-errors';
import { lockedBy, provokeErrorsOfUploads } from '../support/upload-errors';

/** Paths whose POST takes no Idempotency-Key: what it answers is secret, or it makes nothing. */
const KEYLESS = /auth|uploads|webhooks$|secrets$|attempts$/;
const MEBIBYTE = 1024 * 1024;
const UPLOAD = '/api/v1/uploads/{key}';
const BUILD_AND_START = 150_000;
/** The user of the examples and an administrator, both of the demo data. */
const demoUsers = ['ada', 'grace'] as const;

// The compiler's plugin turns doc comments into documentation, so this is about the compiled service.
describe('The OpenAPI document', () => {
  const api = useTestApi();
  let service: BuiltService;
  let anyone: Client;
  let document: Document;
  const as = {} as Record<(typeof demoUsers)[number] | 'stranger', Client>;

  beforeAll(async () => {
    service = await BuiltService.start({ DATABASE_URL: api.app.databaseUrl, DEMO_DATA: 'true', MIN_FREE_DISK: '0' });
    anyone = clientOf(() => service.url);
    // Nothing is sent to the example of a webhook.
    const text = JSON.stringify((await anyone.get('//docs/json')).body);
    document = new Document(JSON.parse(text.replaceAll('https://example.com/hooks', 'https://hooks.localhost')));
    const stranger = { username: 'stranger', email: 'stranger@example.com', password: 'demo-password' };
    await anyone.post('/users', stranger);
    for (const user of [...demoUsers, 'stranger'] as const) {
      as[user] = anyone.with({ Authorization: `Bearer ${(await signIn(user)).access_token}` });
    }
    // What examples name is in the demo data, but for the upload: of one byte, which the example of its PATCH brings.
    const [{ example: key }] = pathParameters(operation(`GET ${UPLOAD}`));
    await new Fixtures(api, (await as.ada.get('/users/profile')).body.data).upload({ key });
    await as.grace.post('/webhooks', aWebhook);
    await as.grace.post('/webhooks/1/deliveries', { change: 'TEST' });
  }, BUILD_AND_START);

  afterAll(() => service?.stop());

  const operation = (name: string): Operation => document.operations.find((one) => one.name === name)!;
  const signIn = async (username: string): Promise<Node> => {
    const example = exampleOf(operation('POST /api/v1/auth/tokens'));
    return (await anyone.post('/auth/tokens', { ...example, username })).body.data;
  };
  const needsToken = ({ spec }: Operation) => spec.security.length === 1;
  const callerOf = (one: Operation) => {
    if (!needsToken(one)) return anyone;
    return /For administrators\.$/.test(one.spec.description) ? as.grace : as.ada;
  };
  const namesOf = (operations: Operation[]) => operations.map(({ name }) => name);

  describe('as a promise', () => {
    /** What came of the requests that were meant to fail. */
    const failures: { name: string; answer: Answer }[] = [];
    const provoke = async (name: string, sent: Promise<Answer>) => {
      failures.push({ name, answer: await sent });
    };

    it('lets everything be asked that it says can be refused', async () => {
      for (const one of document.operations) {
        const caller = callerOf(one);
        await provoke(one.name, send(caller, one, undefined, { search: '?colour=red' }));
        if (one.spec.security.length > 0)
          await provoke(one.name, send(caller.with({ Authorization: 'Bearer x' }), one));
        if (needsToken(one)) await provoke(one.name, send(anyone, one));
        if (caller === as.grace) await provoke(one.name, send(as.ada, one));
        // What strangers may read as well, but not all of it.
        if (one.method === 'get' && !needsToken(one) && one.spec.responses[403]) {
          await provoke(one.name, send(as.stranger, one));
          await provoke(one.name, send(as.stranger, one, undefined, { key: randomUUID() }));
        }
        for (const { name } of pathParameters(one)) {
          for (const id of ['x', name === 'key' ? randomUUID() : '999999'])
            await provoke(one.name, send(caller, one, exampleOf(one), { [name]: id }));
          if (caller === as.ada) await provoke(one.name, send(as.stranger, one, exampleOf(one)));
        }
        if (one.path.startsWith('/api/')) await provoke(one.name, send(caller.with({ Accept: 'image/png' }), one));
        if (takes(one, 'If-Match')) {
          await provoke(one.name, send(as.grace.with({ 'If-Match': '"9"' }), one, exampleOf(one)));
        }
        if (!one.spec.requestBody) continue;
        await provoke(one.name, send(caller.with({ 'Content-Type': 'text/plain' }), one, 'text'));
        if (takesBytes(one)) continue;
        for (const body of [document.requiredOf(one).length > 0 ? {} : { colour: 'red' }, ' '.repeat(MEBIBYTE + 1)]) {
          await provoke(one.name, send(caller, one, body));
        }
      }
    });

    it('lets a key be used once', async () => {
      const posts = document.operations.filter((one) => takes(one, 'Idempotency-Key'));
      const creates = document.operations.filter(({ method, path }) => method === 'post' && !KEYLESS.test(path));
      expect(namesOf(posts)).toContain('POST /api/v1/products');
      expect(namesOf(posts)).toEqual(namesOf(creates));
      // One after the other: the second request with the key is another one than the first.
      const caller = as.grace.with({ 'Idempotency-Key': 'a key of this test' });
      await caller.post('/products', { name: 'Of this test', price: 1 });
      for (const one of posts) await provoke(one.name, send(caller, one, exampleOf(one)));
    });

    it('lets the errors of writing what is not for everyone be had', async () => {
      await provoke('PATCH /api/v1/orders/{id}/status', as.ada.patch('/orders/1/status', { status: 'PAID' }));
      await provoke('PUT /api/v1/orders/{id}/status', as.ada.put('/orders/1/status', { status: 'PAID' }));
      await provokeErrorsOfChanges({ user: as.ada, admin: as.grace, provoke });
      const operations = ['POST /api/v1/users', 'PUT /api/v1/users/{id}', 'PATCH /api/v1/users/{id}'].map(operation);
      const changes = [{ roles: ['ADMIN'] }, { username: 'GRACE' }, { email: 'GRACE@example.com' }];
      const old = `UPDATE sessions SET authenticated_at = authenticated_at - interval '1 hour'`;
      await query(api.app.databaseUrl, old);
      for (const one of operations) {
        const wishes = needsToken(one) ? [...changes, { password: 'another password' }] : changes;
        for (const wish of wishes) await provoke(one.name, send(callerOf(one), one, { ...exampleOf(one), ...wish }));
      }
    });

    it('lets what keeps accounts safe be had', async () => {
      const [create, ...changes] = ['POST /api/v1/users', 'PUT /api/v1/users/{id}', 'PATCH /api/v1/users/{id}'].map(
        operation,
      );
      const remove = operation('DELETE /api/v1/users/{id}');
      // Grace signed in an hour ago.
      await provoke(remove.name, send(as.grace, remove));
      await provoke(create.name, send(as.grace, create, { ...exampleOf(create), roles: ['USER', 'ADMIN'] }));
      const ada = anyone.with({ Authorization: `Bearer ${(await signIn('ada')).access_token}` });
      const adaId = (await ada.get('/users/profile')).body.data.id;
      const grace = anyone.with({ Authorization: `Bearer ${(await signIn('grace')).access_token}` });
      const { id } = (await grace.get('/users/profile')).body.data;
      const last = { id: String(id) };
      const closed = await startApp({ databaseUrl: api.app.databaseUrl, settings: { OPEN_REGISTRATION: 'false' } });
      const toClosed = clientOf(() => `http://127.0.0.1:${closed.port}`);
      await provoke(create.name, send(toClosed, create, exampleOf(create)));
      await closed.stop();
      const external =
        "INSERT INTO external_identities (issuer, subject, user_id) VALUES ('https://id.example', 'grace', $1)";
      await query(api.app.databaseUrl, external, [id]);
      await query(api.app.databaseUrl, external.replace("'grace'", "'ada'"), [adaId]);
      for (const one of changes) {
        const other = { username: 'ada', email: 'other@example.com' };
        await provoke(one.name, send(ada, one, { ...exampleOf(one), ...other }, { id: String(adaId) }));
      }
      for (const one of changes) {
        await provoke(one.name, send(grace, one, { ...exampleOf(one), password: 'another password' }, last));
        await provoke(
          one.name,
          send(grace, one, { ...exampleOf(one), username: 'grace', email: 'grace@example.com', roles: ['USER'] }, last),
        );
      }
      await provoke(remove.name, send(grace, remove, undefined, last));
      await query(api.app.databaseUrl, 'DELETE FROM external_identities');
      // As if all had signed in just now.
      await query(api.app.databaseUrl, 'UPDATE sessions SET authenticated_at = now()');
    });

    it('lets what is taken be had', async () => {
      const taken = document.operations.flatMap((one) => {
        return toldBy(document.response(one, 409)).flatMap((details) => {
          const attributes = [...details.matchAll(/(\w+): is already taken/g)].map(([, name]) => name);
          return attributes.length > 0 ? [{ one, attributes }] : [];
        });
      });
      expect(taken.map(({ one, attributes }) => `${one.name} ${attributes.join()}`)).toContain(
        'POST /api/v1/users username,email',
      );
      for (const { one, attributes } of taken) {
        const items = (await as.grace.get(collectionOf(one.path))).body.data as Node[];
        // Whatever the example of an id names may keep what it has.
        const other = items.find(({ id }) => !pathParameters(one).some(({ example }) => example === id));
        await provoke(
          one.name,
          send(as.grace, one, {
            ...exampleOf(one),
            ...Object.fromEntries(attributes.map((name) => [name, other[name]])),
          }),
        );
      }
    });

    it('takes every parameter that it documents, with its example', async () => {
      const refused: object[] = [];
      for (const one of document.operations) {
        for (const { name, schema } of inPlace(one.spec, 'query')) {
          const { status, text } = await send(as.grace, one, undefined, { search: `?${name}=${schema.examples[0]}` });
          if (status !== 200) refused.push({ name: one.name, parameter: name, text });
        }
      }

      expect(refused).toEqual([]);
    });

    it('answers every operation, sent with its examples, as it says', async () => {
      const broken: object[] = [];
      for (const one of [...document.operations].sort((some, other) => rank(some) - rank(other))) {
        const attempt = await send(callerOf(one), one, await liveExampleOf(one), await liveIdsOf(one));
        // Not everything belongs to the user of the examples.
        const answer = [401, 403].includes(attempt.status) ? await send(as.grace, one, exampleOf(one)) : attempt;
        const problems = document.problemsOf(one, answer);
        if (problems.length > 0) broken.push({ name: one.name, problems });
      }

      expect(broken).toEqual([]);
    });

    it('lets the errors of particular operations be had', async () => {
      const tokens = '/api/v1/auth/tokens';
      const nobody = { username: 'nobody', password: 'not the password' };
      await Promise.all(times(6, () => provoke(`POST ${tokens}`, anyone.post('/auth/tokens', nobody))));
      const registration = operation('POST /api/v1/users');
      for (let count = 0; count <= 30; count++) {
        await provoke(registration.name, send(anyone, registration, exampleOf(registration)));
      }
      for (const one of [operation(`PUT ${tokens}`), operation(`DELETE ${tokens}`)]) {
        await provoke(one.name, send(anyone, one, exampleOf(one)));
      }
      const { refresh_token } = await signIn('stranger');
      for (let count = 0; count < 2; count++) {
        await provoke(`PUT ${tokens}`, anyone.put('/auth/tokens', { refresh_token }));
      }
      const ofUsers = document.operations.filter(({ method, spec }) => {
        return method === 'get' && (spec.parameters as Node[]).some(({ name }) => name === 'userId');
      });
      for (const one of ofUsers.filter((one) => pathParameters(one).length === 0)) {
        await provoke(one.name, send(as.stranger, one, undefined, { search: '?userId=1' }));
      }
      await Promise.all(times(61, () => provoke('GET /api/v1/public', anyone.get('/public'))));
    });

    it('lets the errors of uploads be had', async () => {
      const own = new Fixtures(api, (await as.stranger.get('/users/profile')).body.data);
      const callers = { owner: as.stranger, admin: as.grace };
      await provokeErrorsOfUploads({ own, ...callers, operation, provoke, whileLocked: lockedBy(api.app.databaseUrl) });
    });

    it('documents every error that came, as it came', () => {
      const errors = failures.filter(({ answer }) => answer.status >= 400);
      const surprises = errors.filter(({ name, answer }) => !isDocumented(operation(name), answer));

      expect(errors.length).toBeGreaterThan(100);
      expect(surprises.map(({ name, answer: { status, text } }) => ({ name, status, text }))).toEqual([]);
    });

    it('documents no error that never comes', () => {
      // Those of the server can't be had by asking; the conflicts of orders depend on stock, see orders.spec.ts.
      const invented = document
        .responses()
        .filter(({ where }) => /[ ]4\d\d$/.test(where) && !/orders.* 409$/.test(where))
        .flatMap(({ where, node }) => toldBy(node).map((details) => ({ where, details })))
        // Only for a moment, or after a limit; see idempotency.spec.ts, uploads-locks.spec.ts, sign-in-limits.spec.ts,
        // write-quota.spec.ts and changes-live.spec.ts.
        .filter(
          ({ details }) =>
            !/in progress|idempotency keys within|at once; go on|changes of|was written|waits? for changes|which is the limit/.test(
              details,
            ),
        )
        .filter(({ where, details }) => !failures.some((it) => whereOf(it) === where && tells(details, it.answer)));

      expect(invented).toEqual([]);
    });

    const whereOf = ({ name, answer }: { name: string; answer: Answer }) => `${name} ${answer.status}`;

    /** True if the answer has these details, or this message. Of a plain text the schema tells. */
    const tells = (details: string, { body: { error } }: Answer) =>
      !error || [error.details, error.message].includes(details);

    function isDocumented(one: Operation, answer: Answer): boolean {
      const response = document.response(one, answer.status);
      return (
        toldBy(response).some((details) => tells(details, answer)) &&
        document.violations(schemaOf(response), answer.body).length === 0 &&
        requiredHeaders(response).every((name) => answer.headers.has(name))
      );
    }

    /** The example of a link is signed by no service. */
    async function liveIdsOf(one: Operation): Promise<Record<string, string>> {
      const link = pathParameters(one).find(({ name }) => name === 'link');
      if (!link) return {};
      const { url } = (await send(as.ada, operation(`POST ${UPLOAD}/links`), {})).body.data as { url: string };
      return { link: url.split('/').at(-1)! };
    }

    /** Its example, but for the one thing that no document can know. */
    async function liveExampleOf(one: Operation): Promise<Node> {
      const example = exampleOf(one);
      return example?.refresh_token ? { refresh_token: (await signIn('stranger')).refresh_token } : example;
    }
  });
});
