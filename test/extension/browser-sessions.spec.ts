import {
  type CanActivate,
  Controller,
  createParamDecorator,
  type ExecutionContext,
  Get,
  HttpCode,
  type INestApplication,
  Injectable,
  Module,
  Post,
  Req,
  Res,
  Session,
  UnauthorizedException,
  UseGuards,
} from '@nestjs/common';
import { AuthGuard, PassportModule, PassportSerializer, PassportStrategy } from '@nestjs/passport';
import cookieParser from 'cookie-parser';
import { doubleCsrf } from 'csrf-csrf';
import type { Request, Response } from 'express';
import session from 'express-session';
import passport, { Strategy as PassportBase } from 'passport';
import { type Caller, Creates, CurrentUser, Public, Role, Roles } from '../../src/platform';
import { Strategies } from '../../src/platform/features';
import { useTestApi } from '../support/test-api';

declare module 'express-session' {
  interface SessionData {
    visits?: number;
  }
}

const Cookies = createParamDecorator((name: string, context: ExecutionContext) => {
  const { cookies } = context.switchToHttp().getRequest<Request & { cookies: Record<string, string> }>();
  return name ? cookies?.[name] : cookies;
});

@Controller('cookies')
@Public()
class CookiesController {
  @Get()
  findAll(@Req() request: Request): object {
    return { cookies: { ...request.cookies }, signed: { ...request.signedCookies } };
  }

  @Get('name')
  name(@Cookies('name') name: string): object {
    return { name };
  }

  @Get('set')
  set(@Res({ passthrough: true }) response: Response): object {
    response.cookie('key', 'value');
    response.cookie('whole', 'number', { signed: true, httpOnly: true });
    return {};
  }
}

@Controller('visits')
@Public()
class VisitsController {
  @Get()
  findAll(@Session() data: session.SessionData): object {
    data.visits = data.visits ? data.visits + 1 : 1;
    return { visits: data.visits };
  }

  @Post()
  @Creates(Object)
  create(@Req() request: Request): object {
    request.session.visits = (request.session.visits ?? 0) + 10;
    return { id: 1, visits: request.session.visits };
  }
}

/** As passport-local, without its package. */
class NameStrategyBase extends PassportBase {
  declare success: (user: object) => void;
  declare fail: () => void;

  override authenticate(request: Request): void {
    const id = Number(request.headers['x-user']);
    if (id) this.success({ id, roles: [Role.USER] });
    else this.fail();
  }
}

@Injectable()
class LocalStrategy extends PassportStrategy(NameStrategyBase, 'local') {
  validate(): void {}
}

@Injectable()
class LocalAuthGuard extends AuthGuard('local') {
  override async canActivate(context: ExecutionContext): Promise<boolean> {
    const result = (await super.canActivate(context)) as boolean;
    await super.logIn(context.switchToHttp().getRequest());
    return result;
  }
}

@Injectable()
class AuthenticatedGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    return context.switchToHttp().getRequest<Request>().isAuthenticated();
  }
}

@Injectable()
class SessionSerializer extends PassportSerializer {
  serializeUser(user: object, done: (error: null, user: object) => void): void {
    done(null, user);
  }

  deserializeUser(payload: object, done: (error: null, user: object) => void): void {
    done(null, payload);
  }
}

/** Lets a session of passport's count where @Roles() is declared. */
class SessionBase extends PassportBase {
  override name = 'web-session';
  declare success: (user: object) => void;
  declare fail: () => void;

  override authenticate(request: Request): void {
    const { user } = (request.session as { passport?: { user?: object } }).passport ?? {};
    if (user) this.success({ ...user });
    else this.fail();
  }
}

@Injectable()
class WebSessionStrategy extends PassportStrategy(SessionBase, 'web-session') {
  validate(): never {
    throw new UnauthorizedException();
  }
}

@Controller('signed-in')
class SignedInController {
  @Post()
  @HttpCode(200)
  @Public()
  @UseGuards(LocalAuthGuard)
  login(@Req() request: Request): object {
    return { user: request.user };
  }

  @Get('guarded')
  @Public()
  @UseGuards(AuthenticatedGuard)
  guarded(@Req() request: Request): object {
    return { user: request.user };
  }

  @Get('role')
  @Roles(Role.USER)
  role(@CurrentUser() caller: Caller): object {
    return { id: caller.id };
  }

  @Get('either')
  @Roles(Role.USER)
  @Strategies('jwt', 'web-session')
  either(@CurrentUser() caller: Caller): object {
    return { id: caller.id };
  }
}

const { doubleCsrfProtection, generateCsrfToken } = doubleCsrf({
  getSecret: () => 'a secret of a test',
  getSessionIdentifier: (request) => request.session.id,
  cookieName: 'x-csrf-token',
  cookieOptions: { secure: false },
});

@Controller('csrf')
@Public()
class CsrfController {
  @Get()
  token(@Req() request: Request, @Res({ passthrough: true }) response: Response): object {
    request.session.visits = 0;
    return { token: generateCsrfToken(request, response) };
  }

  @Post()
  @HttpCode(200)
  change(): object {
    return { changed: true };
  }
}

@Module({
  imports: [PassportModule.register({ session: true })],
  controllers: [CookiesController, VisitsController, SignedInController, CsrfController],
  providers: [LocalStrategy, WebSessionStrategy, SessionSerializer],
})
class BrowserModule {}

function prepare(app: INestApplication): void {
  app.use(cookieParser('a secret of a test'));
  app.use(session({ secret: 'my-secret', resave: false, saveUninitialized: false }));
  app.use(passport.initialize());
  app.use(passport.session());
  app.use('/api/csrf', doubleCsrfProtection);
}

describe('A browser', () => {
  const api = useTestApi({ imports: [BrowserModule], prepare });

  /** Keeps what it is told to, as a browser does. */
  function browser() {
    const jar = new Map<string, string>();
    return async (method: string, path: string, headers: Record<string, string> = {}) => {
      const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
      const response = await fetch(`${api.url}/api/v1${path}`, {
        method,
        headers: { ...(cookie && { Cookie: cookie }), ...headers },
      });
      for (const one of response.headers.getSetCookie()) {
        const [, name, value] = /^([^=]+)=([^;]*)/.exec(one)!;
        jar.set(name, value);
      }
      return { status: response.status, headers: response.headers, ...((await response.json()) as { data: object }) };
    };
  }

  it('has its cookies read and set: cookie-parser, @Cookies(), response.cookie()', async () => {
    const ask = browser();

    expect((await ask('GET', '/cookies')).data).toEqual({ cookies: {}, signed: {} });
    await ask('GET', '/cookies/set');
    expect((await ask('GET', '/cookies')).data).toEqual({ cookies: { key: 'value' }, signed: { whole: 'number' } });
    expect((await ask('GET', '/cookies/name', { Cookie: 'name=Ada' })).data).toEqual({ name: 'Ada' });
  });

  it('has a session: express-session, in reads, in writes, and in those with an Idempotency-Key', async () => {
    const ask = browser();

    expect((await ask('GET', '/visits')).data).toEqual({ visits: 1 });
    expect((await ask('GET', '/visits')).data).toEqual({ visits: 2 });
    expect((await ask('POST', '/visits')).data).toEqual({ id: 1, visits: 12 });
    const keyed = () => ask('POST', '/visits', { 'Idempotency-Key': 'a visit' });
    expect((await keyed()).data).toEqual({ id: 1, visits: 22 });
    expect((await keyed()).data).toEqual({ id: 1, visits: 22 });
    expect((await ask('GET', '/visits')).data).toEqual({ visits: 23 });
    expect((await browser()('GET', '/visits')).data).toEqual({ visits: 1 });
  });

  it('is signed in by a session of passport', async () => {
    const { id } = await api.user();
    const ask = browser();

    expect((await ask('GET', '/signed-in/guarded')).status).toBe(403);
    expect((await ask('POST', '/signed-in')).status).toBe(401);
    expect((await ask('POST', '/signed-in', { 'X-User': String(id) })).status).toBe(200);
    expect((await ask('GET', '/signed-in/guarded')).data).toEqual({ user: { id, roles: [Role.USER] } });
  });

  it('has the roles of its session where a strategy says so, and nowhere else', async () => {
    const { id, token } = await api.user();
    const ask = browser();
    await ask('POST', '/signed-in', { 'X-User': String(id) });

    expect((await ask('GET', '/signed-in/role')).status).toBe(401);
    expect((await ask('GET', '/signed-in/either')).data).toEqual({ id });
    expect((await browser()('GET', '/signed-in/either')).status).toBe(401);
    expect((await browser()('GET', '/signed-in/either', { Authorization: `Bearer ${token}` })).data).toEqual({ id });
  });

  it('is protected from other sites: csrf-csrf', async () => {
    const ask = browser();
    const { token } = (await ask('GET', '/csrf')).data as { token: string };

    expect(await ask('POST', '/csrf')).toMatchObject({ status: 403, error: { code: 'FORBIDDEN' } });
    expect((await ask('POST', '/csrf', { 'X-CSRF-Token': 'made up' })).status).toBe(403);
    expect((await ask('POST', '/csrf', { 'X-CSRF-Token': token })).data).toEqual({ changed: true });
  });
});
