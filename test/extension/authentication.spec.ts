import { Controller, Get, Module, UseGuards, Global } from '@nestjs/common';
import { AuthGuard } from '@nestjs/passport';
import { Role, Roles } from '../../src/platform';
import { DEFAULT_STRATEGIES, Strategies } from '../../src/platform/features';
import { waitFor } from '../../src/platform/testing';
import { Product } from '../../src/resources/products/product.entity';
import { User, UserStatus } from '../../src/resources/users/user.entity';
import { HeldRequest } from '../support/held-request';
import { useTestApi } from '../support/test-api';
import { ApiKeyStrategy, KeysModule, keys, meanwhile, startWith } from '../support/modules/api-keys';

describe('A strategy beside access tokens', () => {
  const api = useTestApi({ imports: [KeysModule] });
  const withKey = (key: string) => api.with({ 'X-API-Key': key });

  async function newKey(roles = [Role.USER], attributes: Partial<User> = {}): Promise<{ key: string; id: number }> {
    const { id } = await api.user(attributes);
    const key = `key-of-${id}`;
    keys.set(key, { id, roles });
    return { key, id };
  }

  it('finds the caller of a route that names it, as a token does', async () => {
    const user = await api.user();
    const { key, id } = await newKey();

    expect((await api.get('/keyed')).status).toBe(401);
    expect((await api.as(user).get('/keyed')).body.data.id).toBe(user.id);
    expect((await withKey(key).get('/keyed')).body.data).toEqual({ id, authenticatedAt: 0 });
    expect((await withKey('unknown').get('/keyed')).status).toBe(401);
    expect((await api.as({ token: 'nonsense' }).get('/keyed')).status).toBe(401);
    expect((await withKey(key).get('/keyed/tokens')).status).toBe(401);
    expect((await withKey(key).get('/users/profile')).status).toBe(401);
  });

  it('leaves a route that is open to everyone open, and refuses bad credentials there', async () => {
    const { key, id } = await newKey();

    expect((await api.get('/keyed/open')).body.data).toEqual({ id: null });
    expect((await withKey(key).get('/keyed/open')).body.data).toEqual({ id });
    expect((await withKey('unknown').get('/keyed/open')).status).toBe(401);
    expect((await api.as({ token: 'nonsense' }).get('/keyed/open')).status).toBe(401);
  });

  it('gives the roles that it says, as long as the user has them', async () => {
    const narrow = await newKey([Role.USER], { roles: [Role.USER, Role.ADMIN] });
    const wide = await newKey([Role.USER, Role.ADMIN], { roles: [Role.USER, Role.ADMIN] });
    const wrong = await newKey([Role.ADMIN], { roles: [Role.USER] });

    expect((await withKey(narrow.key).get('/keyed/admin')).status).toBe(403);
    expect((await withKey(wide.key).get('/keyed/admin')).status).toBe(200);
    expect((await withKey(wrong.key).get('/keyed/admin')).status).toBe(401);
  });

  it('lets no suspended user in', async () => {
    const { key } = await newKey([Role.USER], { status: UserStatus.SUSPENDED });

    expect((await withKey(key).get('/keyed')).status).toBe(401);
  });

  it('that answers with something else than a caller is a mistake, which the log explains', async () => {
    keys.set('strange', { partnerId: 'acme' } as never);

    expect((await withKey('strange').get('/keyed')).status).toBe(500);
    expect(JSON.stringify(api.app.log)).toContain('validate() returns the id and the roles of a user');
  });

  it('has idempotency keys of its caller, and its id in the log', async () => {
    const { key, id } = await newKey();
    const other = await newKey();
    const headers = { 'Idempotency-Key': 'one' };
    const first = await withKey(key).post('/keyed', {}, headers);
    const again = await withKey(key).post('/keyed', {}, headers);

    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.body.data).toEqual(first.body.data);
    expect((await withKey(other.key).post('/keyed', {}, headers)).body.data).not.toEqual(first.body.data);
    const requestId = first.headers.get('x-request-id');
    await waitFor(() => api.app.log.some(({ request_id, msg }) => request_id === requestId && msg === 'request'));
    expect(api.app.log).toContainEqual(expect.objectContaining({ request_id: requestId, user_id: id }));
  });

  it.each<Record<string, string>>([{}, { 'Idempotency-Key': 'suspended' }])(
    'is looked at again when its effect commits, %j',
    async (headers) => {
      const { key, id } = await newKey();
      const before = await api.repository(Product).count();
      const admin = await api.admin();
      const suspend = () => api.as(admin).patch(`/users/${id}`, { status: UserStatus.SUSPENDED });
      meanwhile.run = async () => expect((await suspend()).status).toBe(200);
      try {
        expect((await withKey(key).post('/keyed', {}, headers)).status).toBe(401);
      } finally {
        meanwhile.run = () => Promise.resolve();
      }
      expect(await api.repository(Product).count()).toBe(before);
    },
  );

  it('is asked again whether its key is good, when a body was waited for', async () => {
    const { key } = await newKey();
    const held = await HeldRequest.begin(api, 'none', 'POST /api/v1/keyed', {
      body: {},
      headers: { 'X-API-Key': key },
    });
    keys.delete(key);

    expect((await held.finish()).status).toBe(401);
  });

  it("may be a route's own guard where the route is open to everyone", async () => {
    const user = await api.user();

    expect(await withKey('partner').post('/partners')).toMatchObject({
      status: 200,
      body: { data: { partnerId: 'acme' } },
    });
    expect((await withKey('stranger').post('/partners')).status).toBe(401);
    expect((await api.as(user).post('/partners/jwt')).body.data).toEqual({ id: user.id });
    expect((await api.post('/partners/jwt')).status).toBe(401);
    const keyed = await withKey('partner').post('/partners/keyed', undefined, { 'Idempotency-Key': 'partner' });
    expect(keyed.status).toBe(500);
    expect(JSON.stringify(api.app.log)).toContain('A key belongs to a user of this service');
  });

  it('stops the start where its guard would come too late, or where there is none of its name', async () => {
    @Controller('late')
    class LateController {
      @Get()
      @Roles(Role.USER)
      @UseGuards(AuthGuard(['jwt', 'api-key']))
      get(): void {}
    }
    @Controller('misspelt')
    @Roles(Role.USER)
    @Strategies('jwt', 'apikey')
    class MisspeltController {
      @Get()
      get(): void {}
    }

    await expect(startWith(LateController)).rejects.toThrow(/@Strategies\('jwt', 'api-key'\):\n {2}- GET late/);
    await expect(startWith(MisspeltController)).rejects.toThrow(/GET misspelt \(MisspeltController\.get\): apikey/);
  });
});

describe('Strategies for every route', () => {
  @Global()
  @Module({
    providers: [ApiKeyStrategy, { provide: DEFAULT_STRATEGIES, useValue: ['jwt', 'api-key'] }],
    exports: [DEFAULT_STRATEGIES],
  })
  class EverywhereModule {}
  const api = useTestApi({ imports: [EverywhereModule] });

  it('are those of a global module', async () => {
    const user = await api.user();
    keys.set('everywhere', { id: user.id, roles: [Role.USER] });

    expect((await api.with({ 'X-API-Key': 'everywhere' }).get('/users/profile')).body.data.id).toBe(user.id);
    expect((await api.as(user).get('/users/profile')).body.data.id).toBe(user.id);
    expect((await api.get('/users/profile')).status).toBe(401);
    expect((await api.get('/products')).status).toBe(200);
    // A key is no password that was given just now.
    const change = await api
      .with({ 'X-API-Key': 'everywhere' })
      .patch(`/users/${user.id}`, { password: 'another one' });
    expect(change.headers.get('www-authenticate')).toContain('insufficient_user_authentication');
  });
});
