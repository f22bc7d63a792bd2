import {
  type CanActivate,
  Controller,
  createParamDecorator,
  type ExecutionContext,
  Get,
  HttpCode,
  Injectable,
  Module,
  Post,
  Req,
  SetMetadata,
  type Type,
  UnauthorizedException,
  UseGuards,
  Body,
  Global,
} from '@nestjs/common';
import { APP_GUARD, Reflector } from '@nestjs/core';
import { AuthGuard, PassportStrategy } from '@nestjs/passport';
import type { Request } from 'express';
import { Strategy as PassportBase } from 'passport';
import { DataSource } from 'typeorm';
import {
  type Caller,
  CurrentUser,
  declareAccess,
  DEFAULT_STRATEGIES,
  Idempotent,
  insertRow,
  Public,
  Role,
  Roles,
  Strategies,
} from '../../src/platform';
import { Product } from '../../src/resources/products/product.entity';
import { User, UserStatus } from '../../src/resources/users/user.entity';
import { HeldRequest } from '../support/held-request';
import { TestApp } from '../support/test-app';
import { times, useTestApi } from '../support/test-api';
import { waitFor } from '../support/wait-for';

type Verify = (key: string, done: (error: unknown, user?: object | false) => void) => void;

/** A strategy as those of passport's packages are, such as passport-headerapikey. */
class HeaderKeyStrategy extends PassportBase {
  override name = 'header-key';
  declare fail: (challenge?: unknown) => void;
  declare success: (user: object) => void;
  declare error: (error: unknown) => void;

  constructor(private readonly verify: Verify) {
    super();
  }

  override authenticate(request: Request): void {
    const key = request.headers['x-api-key'];
    if (typeof key !== 'string') return this.fail('Missing API key');
    this.verify(key, (error, user) => {
      if (error) this.error(error);
      else if (user) this.success(user);
      else this.fail('Unknown API key');
    });
  }
}

/** What each key stands for. */
const keys = new Map<string, Omit<Caller, 'authenticatedAt'>>();

@Injectable()
class ApiKeyStrategy extends PassportStrategy(HeaderKeyStrategy, 'api-key') {
  validate(key: string): object {
    const caller = keys.get(key);
    if (!caller) throw new UnauthorizedException();
    return { ...caller, isStillGood: () => Promise.resolve(keys.has(key)) };
  }
}

@Injectable()
class PartnerStrategy extends PassportStrategy(HeaderKeyStrategy, 'partner') {
  validate(key: string): object | false {
    return key === 'partner' && { partnerId: 'acme' };
  }
}

const product = { name: 'A product', price: 1 };
/** What happens while a handler writes. */
let meanwhile: () => Promise<unknown> = () => Promise.resolve();

@Controller('keyed')
@Roles(Role.USER)
@Strategies('jwt', 'api-key')
class KeyedController {
  constructor(private readonly database: DataSource) {}

  @Get()
  get(@CurrentUser() { id, authenticatedAt }: Caller): object {
    return { id, authenticatedAt };
  }

  @Get('open')
  @Public()
  open(@CurrentUser() caller?: Caller): object {
    return { id: caller?.id ?? null };
  }

  @Get('admin')
  @Roles(Role.ADMIN)
  admin(): object {
    return {};
  }

  @Get('tokens')
  @Strategies('jwt')
  tokens(): object {
    return {};
  }

  @Post()
  @Idempotent()
  create(@Body() _body: object): Promise<object> {
    return this.database.transaction(async (manager) => {
      const { id } = await insertRow(manager, Product, product);
      await meanwhile();
      return { id };
    });
  }
}

/** As in the documentation of passport at docs.nestjs.com. */
@Controller('partners')
@Public({ identifies: false })
class PartnersController {
  constructor(private readonly database: DataSource) {}

  @Post()
  @HttpCode(200)
  @UseGuards(AuthGuard('partner'))
  async login(@Req() { user }: Request): Promise<object> {
    await insertRow(this.database.manager, Product, product);
    return user as object;
  }

  @Post('jwt')
  @HttpCode(200)
  @UseGuards(AuthGuard('jwt'))
  twice(@Req() { user }: Request): object {
    return { id: (user as Caller).id };
  }

  @Post('keyed')
  @UseGuards(AuthGuard('partner'))
  @Idempotent()
  keyed(): object {
    return {};
  }
}

@Module({ controllers: [KeyedController, PartnersController], providers: [ApiKeyStrategy, PartnerStrategy] })
class KeysModule {}

/** The start of an application with one more controller. */
function startWith(...controllers: Type[]): Promise<void> {
  @Module({ controllers, providers: [ApiKeyStrategy] })
  class ExtraModule {}
  return TestApp.start({ imports: [ExtraModule] }).then((app) => app.stop());
}

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
      meanwhile = async () => expect((await suspend()).status).toBe(200);
      try {
        expect((await withKey(key).post('/keyed', {}, headers)).status).toBe(401);
      } finally {
        meanwhile = () => Promise.resolve();
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

describe('Access to a controller of a library', () => {
  @Controller('measured')
  class LibraryController {
    @Get()
    index(): string {
      return 'measures';
    }

    @Get('more')
    more(): string {
      return 'more measures';
    }
  }

  it('has to be declared', async () => {
    await expect(startWith(LibraryController)).rejects.toThrow(
      /declareAccess\(\)[^]*GET measured \(LibraryController\.index\)/,
    );
  });

  it('is declared from outside, for all of it or for a handler', async () => {
    class DeclaredController extends LibraryController {}
    Controller('declared')(DeclaredController);
    declareAccess(DeclaredController, Roles(Role.ADMIN));
    @Module({ controllers: [DeclaredController] })
    class LibraryModule {}
    const app = await TestApp.start({ imports: [LibraryModule] });
    try {
      const { status } = await fetch(`http://127.0.0.1:${app.port}/api/v1/declared`);
      expect(status).toBe(401);
    } finally {
      await app.stop();
    }
    @Controller('partly')
    class PartlyController extends LibraryController {
      override index(): string {
        return '';
      }
    }
    Get()(PartlyController.prototype, 'index', Object.getOwnPropertyDescriptor(PartlyController.prototype, 'index')!);
    declareAccess(PartlyController, Public(), 'index');
    await expect(startWith(PartlyController)).rejects.toThrow(/:\n {2}- GET partly\/more \(PartlyController\.more\)$/);
  });

  it('is refused for what is no controller, or has no such handler', () => {
    expect(() => declareAccess(KeysModule, Public())).toThrow("which KeysModule isn't");
    expect(() => declareAccess(LibraryController, Public(), 'toString' as never)).toThrow('no handler toString');
  });
});

describe('Permissions finer than roles', () => {
  const RequirePermissions = Reflector.createDecorator<string[]>();
  const Audited = (by: string) => SetMetadata('audited', by);
  const order: string[] = [];
  /** A permission for each user. */
  const granted = new Map<number, string[]>();
  const Permissions = createParamDecorator((_: unknown, context: ExecutionContext) => {
    const { user } = context.switchToHttp().getRequest<Request>();
    return granted.get(user!.id) ?? [];
  });

  @Injectable()
  class PermissionsGuard implements CanActivate {
    constructor(private readonly reflector: Reflector) {}

    canActivate(context: ExecutionContext): boolean {
      const targets = [context.getHandler(), context.getClass()];
      const required = this.reflector.getAllAndOverride(RequirePermissions, targets);
      const audited = this.reflector.get<string | undefined>('audited', context.getHandler());
      if (audited) order.push(`audited by ${audited}`);
      if (!required) return true;
      const { user } = context.switchToHttp().getRequest<Request>();
      order.push(`permissions of ${user ? 'a user' : 'nobody'}`);
      return required.every((one) => granted.get(user!.id)?.includes(one));
    }
  }

  /** Of the place, by its owner, as the documentation of guards has it. */
  @Injectable()
  class OwnerGuard implements CanActivate {
    canActivate(context: ExecutionContext): boolean {
      const { user, params } = context.switchToHttp().getRequest<Request>();
      return user!.id === Number(params.owner);
    }
  }

  @Controller('reports')
  @Roles(Role.USER)
  @RequirePermissions(['reports:read'])
  class ReportsController {
    @Get()
    list(@Permissions() permissions: string[]): object {
      return { permissions };
    }

    @Post()
    @RequirePermissions(['reports:write'])
    @Audited('someone')
    create(): object {
      return {};
    }

    @Get(':owner/own')
    @UseGuards(OwnerGuard)
    own(): object {
      return {};
    }
  }

  @Module({ controllers: [ReportsController], providers: [{ provide: APP_GUARD, useClass: PermissionsGuard }] })
  class ReportsModule {}
  const api = useTestApi({ imports: [ReportsModule] });

  it("are asked for by an APP_GUARD of a team's, behind those of the service", async () => {
    const [reader, writer, nobody] = await Promise.all(times(3, () => api.user()));
    granted.set(reader.id, ['reports:read']);
    granted.set(writer.id, ['reports:read', 'reports:write']);

    expect((await api.get('/reports')).status).toBe(401);
    expect(order).toEqual([]);
    expect((await api.as(nobody).get('/reports')).status).toBe(403);
    expect((await api.as(reader).get('/reports')).body.data).toEqual({ permissions: ['reports:read'] });
    expect((await api.as(reader).post('/reports')).status).toBe(403);
    expect((await api.as(writer).post('/reports')).status).toBe(201);
    expect(order).toContain('audited by someone');
    expect(order).not.toContain('permissions of nobody');
    expect((await api.as(reader).get(`/reports/${reader.id}/own`)).status).toBe(200);
    expect((await api.as(reader).get(`/reports/${writer.id}/own`)).status).toBe(403);
  });
});
