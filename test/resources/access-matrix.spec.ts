import { JwtService } from '@nestjs/jwt';
import { SigningKeys } from '../../src/platform/accounts';
import { type Answer, type Client, expectErrorEnvelope } from '../../src/platform/testing';
import { User, UserStatus } from '../../src/resources/users/user.entity';
import { Fixtures } from '../support/fixtures';
import { aNewUser, aPost } from '../support/builders';
import { fingerprintOf } from '../support/fingerprint';
import { on, type Prepare, type PreparedRequest } from '../support/prepared-request';
import { ALL_ARE_ASKED, itForEach, lacks } from '../support/asked';
import { isAsked, requestOf, routesOf, sendTo } from '../support/requests';
import { type CallerKind, CALLERS, parse, withOwnRows } from '../support/access-table';
import { type TestUser, useTestApi } from '../support/test-api';

/**
 * Who may do what. "owner" and "other" are users without another role; what they ask for is the owner's, or the owner
 * itself. The suspended and the expired caller are the owner as well; a suspended owner's links open nothing.
 */
const ROUTES = withOwnRows(`
                                                anonymous  owner  other  ADMIN  suspended  expired
  GET    /api/v1                                      200    200    200    200        200      200
  GET    /docs                                        200    200    200    200        200      200
  GET    /docs/json                                   200    200    200    200        200      200
  GET    /health/live                                 200    200    200    200        200      200
  GET    /health/ready                                200    200    200    200        200      200
  GET    /.well-known/jwks.json                       200    200    200    200        200      200
  GET    /.well-known/openapi.json                    302    302    302    302        302      302
  GET    /api/v1/public                               200    200    200    200        200      200

  POST   /api/v1/auth/tokens                          201    201    201    201        201      201
  PUT    /api/v1/auth/tokens                          200    200    200    200        200      200
  DELETE /api/v1/auth/tokens                          204    204    204    204        204      204

  GET    /api/v1/users                                401    200    200    200        401      401
  GET    /api/v1/users/profile                        401    200    200    200        401      401
  GET    /api/v1/users/:id                            401    200    200    200        401      401
  POST   /api/v1/users                                201    201    201    201        401      401
  PUT    /api/v1/users/:id                            401    200    403    200        401      401
  PATCH  /api/v1/users/:id                            401    200    403    200        401      401
  DELETE /api/v1/users/:id                            401    204    403    204        401      401

  GET    /api/v1/products                             200    200    200    200        401      401
  GET    /api/v1/products/:id                         200    200    200    200        401      401
  POST   /api/v1/products                             401    403    403    201        401      401
  PUT    /api/v1/products/:id                         401    403    403    200        401      401
  PATCH  /api/v1/products/:id                         401    403    403    200        401      401
  DELETE /api/v1/products/:id                         401    403    403    204        401      401

  GET    /api/v1/orders                               401    200    200    200        401      401
  GET    /api/v1/orders/:id                           401    200    403    200        401      401

  POST   /api/v1/orders                               401    201    201    201        401      401
  PUT    /api/v1/orders/:id/status                    401    200    403    200        401      401
  PATCH  /api/v1/orders/:id/status                    401    200    403    200        401      401
  GET    /api/v1/posts                                200    200    200    200        401      401
  GET    /api/v1/posts/:id                            200    200    200    200        401      401
  POST   /api/v1/posts                                401    201    201    201        401      401
  PUT    /api/v1/posts/:id                            401    200    403    200        401      401
  PATCH  /api/v1/posts/:id                            401    200    403    200        401      401
  DELETE /api/v1/posts/:id                            401    204    403    204        401      401
  GET    /api/v1/users/:userId/posts                  200    200    200    200        401      401
  GET    /api/v1/users/:userId/posts/:postId          200    200    200    200        401      401
  POST   /api/v1/users/:userId/posts                  401    201    403    201        401      401

  GET    /api/v1/posts/:id/comments                   200    200    200    200        401      401
  POST   /api/v1/posts/:id/comments                   401    201    201    201        401      401
  GET    /api/v1/comments                             200    200    200    200        401      401
  GET    /api/v1/comments/:id                         200    200    200    200        401      401
  PUT    /api/v1/comments/:id                         401    200    403    200        401      401
  PATCH  /api/v1/comments/:id                         401    200    403    200        401      401
  DELETE /api/v1/comments/:id                         401    204    403    204        401      401

  GET    /api/v1/replies                              200    200    200    200        401      401
  GET    /api/v1/replies/:id                          200    200    200    200        401      401
  POST   /api/v1/replies                              401    201    201    201        401      401
  PUT    /api/v1/replies/:id                          401    200    403    200        401      401
  PATCH  /api/v1/replies/:id                          401    200    403    200        401      401
  DELETE /api/v1/replies/:id                          401    204    403    204        401      401
`);

/** The rows of the routes that are asked in this run. */
const ASKED = Object.fromEntries(Object.entries(parse(ROUTES)).filter(([route]) => isAsked(route)));

/** Where more decides. */
const PARTICULARS = `
                                                         anonymous  owner  other  ADMIN  suspended  expired
  POST   /api/v1/users with roles                              403    403    403    201        401      401
  POST   /api/v1/users with a status                           403    403    403    201        401      401
  PUT    /api/v1/users/:id with roles                          401    403    403    200        401      401
  PATCH  /api/v1/users/:id with a status                       401    403    403    200        401      401
  GET    /api/v1/users sorted by email                         401    400    400    200        401      401
  GET    /api/v1/users/:id and its email                       401    200    400    200        401      401

  GET    /api/v1/uploads/:key/content of a public one          200    200    200    200        401      401

  GET    /api/v1/orders of the owner                           401    200    403    200        401      401
  PUT    /api/v1/orders/:id/status to PAID                     401    403    403    200        401      401
  PATCH  /api/v1/orders/:id/status to PAID                     401    403    403    200        401      401
  PATCH  /api/v1/orders/:id/status to the same                 401    403    403    200        401      401
  PATCH  /api/v1/orders/:id/status to CANCELLED, shipped       401    409    403    409        401      401

  GET    /api/v1/posts/:id a draft                             404    200    404    200        401      401
  PUT    /api/v1/posts/:id a draft                             401    200    404    200        401      401
  PATCH  /api/v1/posts/:id a draft                             401    200    404    200        401      401
  DELETE /api/v1/posts/:id a draft                             401    204    404    204        401      401
  GET    /api/v1/users/:userId/posts/:postId a draft           404    200    404    200        401      401
  GET    /api/v1/posts/:id/comments of a draft                 404    200    404    200        401      401
  POST   /api/v1/posts/:id/comments on a draft                 401    201    404    201        401      401
  GET    /api/v1/comments/:id on a draft                       404    200    404    200        401      401
  PATCH  /api/v1/comments/:id on a draft                       401    200    404    200        401      401
  DELETE /api/v1/comments/:id on a draft                       401    204    404    204        401      401
  POST   /api/v1/replies below a draft                         401    201    400    201        401      401
  GET    /api/v1/replies/:id below a draft                     404    200    404    200        401      401
  PATCH  /api/v1/replies/:id below a draft                     401    200    404    200        401      401
  DELETE /api/v1/replies/:id below a draft                     401    204    404    204        401      401
  PATCH  /api/v1/comments/:id by other, on the owner's post    401    403    200    200        401      401
  PATCH  /api/v1/comments/:id by other, on the owner's draft   401    403    404    200        401      401
`;

describe('access', () => {
  const api = useTestApi();
  let other: TestUser;
  let admin: TestUser;

  beforeAll(async () => {
    [other, admin] = await Promise.all([api.user(), api.admin()]);
  });

  const draft = (own: Fixtures) => own.post({ status: 'DRAFT' });
  const commentOnDraft = async (own: Fixtures) => own.comment({}, await draft(own));
  const replyBelowDraft = async (own: Fixtures) => own.reply({}, await commentOnDraft(own));
  const shipped = (own: Fixtures) => own.order({ status: 'SHIPPED' });
  const text = { content: 'Some other text.' };

  const particulars: Record<string, Prepare> = {
    'POST /api/v1/users with roles': () => ({ body: aNewUser({ roles: ['USER'] }) }),
    'POST /api/v1/users with a status': () => ({ body: aNewUser({ status: 'ACTIVE' }) }),
    'PUT /api/v1/users/:id with roles': ({ owner: { id, username, email } }) => ({
      ids: [id],
      body: { username, email, roles: ['USER'] },
    }),
    'PATCH /api/v1/users/:id with a status': ({ owner }) => ({ ids: [owner.id], body: { status: 'ACTIVE' } }),
    'GET /api/v1/users sorted by email': () => ({ query: '?sort=email' }),
    'GET /api/v1/users/:id and its email': ({ owner }) => ({ ids: [owner.id], query: '?fields=email' }),

    'GET /api/v1/uploads/:key/content of a public one': async (own) => ({ ids: [String((await own.picture()).key)] }),

    'GET /api/v1/orders of the owner': ({ owner }) => ({ query: `?userId=${owner.id}` }),
    'PUT /api/v1/orders/:id/status to PAID': on((own) => own.order(), { status: 'PAID' }),
    'PATCH /api/v1/orders/:id/status to PAID': on((own) => own.order(), { status: 'PAID' }),
    'PATCH /api/v1/orders/:id/status to the same': on((own) => own.order(), { status: 'PENDING' }),
    'PATCH /api/v1/orders/:id/status to CANCELLED, shipped': on(shipped, { status: 'CANCELLED' }),

    'GET /api/v1/posts/:id a draft': on(draft),
    'PUT /api/v1/posts/:id a draft': on(draft, aPost()),
    'PATCH /api/v1/posts/:id a draft': on(draft, { status: 'PUBLISHED' }),
    'DELETE /api/v1/posts/:id a draft': on(draft),
    'GET /api/v1/users/:userId/posts/:postId a draft': async (own) => ({ ids: [own.owner.id, (await draft(own)).id] }),
    'GET /api/v1/posts/:id/comments of a draft': on(draft),
    'POST /api/v1/posts/:id/comments on a draft': on(draft, text),
    'GET /api/v1/comments/:id on a draft': on(commentOnDraft),
    'PATCH /api/v1/comments/:id on a draft': on(commentOnDraft, text),
    'DELETE /api/v1/comments/:id on a draft': on(commentOnDraft),
    'POST /api/v1/replies below a draft': async (own) => ({
      body: { ...text, comment_id: (await commentOnDraft(own)).id },
    }),
    'GET /api/v1/replies/:id below a draft': on(replyBelowDraft),
    'PATCH /api/v1/replies/:id below a draft': on(replyBelowDraft, text),
    'DELETE /api/v1/replies/:id below a draft': on(replyBelowDraft),

    "PATCH /api/v1/comments/:id by other, on the owner's post": on((own) => own.comment({ user_id: other.id }), text),
    "PATCH /api/v1/comments/:id by other, on the owner's draft": on(
      async (own) => own.comment({ user_id: other.id }, await draft(own)),
      text,
    ),
  };

  it('has a row for every route of the application', () => {
    const [rows, routes] = [Object.keys(ASKED), routesOf(api)];
    const place = 'test/resources/access-matrix.spec.ts, or `access` of its file in test/support/resources/';

    lacks([
      ...routes
        .filter((one) => !rows.includes(one))
        .map((one) => `${one} has no row in the table of access: add it to ${place}`),
      ...rows
        .filter((one) => !routes.includes(one))
        .map((one) => `${one} is in the table of access, and is no route: remove it`),
    ]);
    expect(Object.keys(parse(PARTICULARS)).sort()).toEqual(Object.keys(particulars).sort());
    for (const table of [ROUTES, PARTICULARS]) expect(table.trim().split('\n')[0].split(/\s+/)).toEqual([...CALLERS]);
  });

  itForEach(Object.entries(ASKED))('is what the table says on every route, for every caller: %s', isAsTold);

  itForEach(ALL_ARE_ASKED ? Object.entries(parse(PARTICULARS)) : [])(
    'is what the table says where more decides: %s',
    isAsTold,
  );

  it('leaves everything as it was where it is refused', async () => {
    const asked = { ...ASKED, ...(ALL_ARE_ASKED && parse(PARTICULARS)) };
    const refused = Object.entries(asked).flatMap(([route, statuses]) =>
      CALLERS.filter((_, index) => Number(statuses.split(' ')[index]) >= 400).map((kind) => ({ route, kind })),
    );
    const cases = await Promise.all(refused.map(async (one) => ({ ...one, ...(await prepare(one.route, one.kind)) })));
    const before = await fingerprintOf(api);

    const answers = await Promise.all(cases.map(({ client, route, request }) => sendTo(client, route, request)));

    if (ALL_ARE_ASKED) expect(answers.length).toBeGreaterThan(200);
    expect(answers.filter(({ status }) => status < 400)).toEqual([]);
    expect(await fingerprintOf(api)).toEqual(before);
  });

  it('is refused to an expired token for its time alone', async () => {
    const owner = await api.user();
    const soon = Math.floor(Date.now() / 1000) + 60;

    expect(await (await withExpiry(owner, soon)).get('/users/profile')).toMatchObject({ status: 200 });
    expect(await (await withExpiry(owner, soon - 61)).get('/users/profile')).toMatchObject({ status: 401 });
  });

  /** What each caller is answered. */
  async function isAsTold(route: string, statuses: string): Promise<void> {
    const answers = await Promise.all(CALLERS.map((kind) => call(route, kind)));
    const expected = statuses.split(' ');
    const wrong = CALLERS.flatMap((kind, index) => {
      const { status } = answers[index];
      return String(status) === expected[index]
        ? []
        : [`${status} to the caller "${kind}" instead of ${expected[index]}`];
    });
    lacks(wrong.length > 0 ? [`${route} answers ${wrong.join(', ')}, as the table of access says`] : []);
  }

  async function call(route: string, kind: CallerKind): Promise<Answer> {
    const { client, request } = await prepare(route, kind);
    const answer = await sendTo(client, route, request);
    if (answer.status >= 400) expectErrorEnvelope(answer);
    if (answer.status === 401) {
      const challenge = kind === 'anonymous' ? 'Bearer' : 'Bearer error="invalid_token"';
      expect(answer.headers.get('www-authenticate')).toBe(challenge);
    }
    return answer;
  }

  /** A caller, and a request on things that no other request touches. */
  async function prepare(route: string, kind: CallerKind): Promise<{ client: Client; request: PreparedRequest }> {
    const own = new Fixtures(api, await api.user());
    const request = await (particulars[route]?.(own) ?? requestOf(route, own));
    return { client: await clientOf(kind, own.owner), request };
  }

  async function clientOf(kind: CallerKind, owner: TestUser): Promise<Client> {
    switch (kind) {
      case 'anonymous':
        return api;
      case 'owner':
        return api.as(owner);
      case 'other':
        return api.as(other);
      case 'ADMIN':
        return api.as(admin);
      case 'suspended':
        // Not through the API, which would end the session too: the status alone must do.
        await api.repository(User).update({ id: owner.id }, { status: UserStatus.SUSPENDED });
        return api.as(owner);
      case 'expired':
        return withExpiry(owner, Math.floor(Date.now() / 1000) - 1);
    }
  }

  /** The caller with its own token, but for the time at which that expires. */
  async function withExpiry(owner: TestUser, exp: number): Promise<Client> {
    const jwt = api.app.nest.get(JwtService, { strict: false });
    const { current, algorithm } = api.app.nest.get(SigningKeys);
    const claims = jwt.decode<object>(owner.token);
    const options = { privateKey: current.key, keyid: current.kid, algorithm };
    return api.as({ token: await jwt.signAsync({ ...claims, exp }, options) });
  }
});
