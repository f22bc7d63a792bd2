import {
  type CanActivate,
  Controller,
  Get,
  HostParam,
  type INestApplication,
  Injectable,
  type MiddlewareConsumer,
  Module,
  type NestInterceptor,
  type NestModule,
  Param,
  Post,
  RequestMethod,
  Scope,
  Session,
  SignedCookies,
  type Type,
  UploadedFile,
  UploadedFiles,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import { APP_GUARD, APP_INTERCEPTOR, RouterModule } from '@nestjs/core';
import { FileInterceptor } from '@nestjs/platform-express';
import cookieParser from 'cookie-parser';
import session from 'express-session';
import { Public } from '../../src/platform';
import { createApplication } from '../../src/platform/programs';
import { databases, testingModule } from '../support/modules/kettles';

@Controller('cookies')
@Public()
class CookiesController {
  @Get()
  read(@SignedCookies('owner') owner?: string): object {
    return { owner };
  }
}

@Controller('sessions')
@Public()
class SessionsController {
  @Get()
  read(@Session() session?: object): object {
    return { session };
  }
}

@Controller('sessions')
@Public()
class GuardedSessionsController {
  /** A guard of a team's own may find the session. */
  @Get()
  @UseGuards({ canActivate: () => true })
  read(@Session() session?: object): object {
    return { session };
  }
}

@Controller('files')
@Public()
class FilesController {
  @Post('one')
  one(@UploadedFile() file?: object): object {
    return { file };
  }

  @Post('many')
  many(@UploadedFiles() files?: object[]): object {
    return { files };
  }
}

@Controller('files')
@Public()
class InterceptedController {
  @Post()
  @UseInterceptors(FileInterceptor('file'))
  read(@UploadedFile() file?: object): object {
    return { file };
  }
}

@Controller('hosts')
@Public()
class HostsController {
  @Get()
  read(@HostParam('account') account?: string): object {
    return { account };
  }
}

@Controller({ path: 'hosts', host: ':account.example.com' })
@Public()
class OtherHostsController {
  @Get()
  read(@HostParam('user') user?: string): object {
    return { user };
  }
}

@Controller({ path: 'hosts', host: [/^(?<user>\w+)\.example\.com$/, ':account.example.com'] })
@Public()
class NamedHostsController {
  @Get()
  read(@HostParam('user') user?: string, @HostParam('account') account?: string, @HostParam() all?: object): object {
    return { user, account, all };
  }
}

@Controller('parts')
@Public()
class PartsController {
  @Get(':id')
  read(@Param('Id') id?: string): object {
    return { id };
  }
}

@Controller('parts')
@Public()
class NamedPartsController {
  @Get([':id', 'of/:owner{/:place}', 'files/*path', ':from-:to/between'])
  read(
    @Param('id') id?: string,
    @Param('owner') owner?: string,
    @Param('place') place?: string,
    @Param('path') path?: string[],
    @Param('to') to?: string,
  ): object {
    return { id, owner, place, path, to };
  }

  @Get('below/a/module')
  below(@Param('tenant') tenant?: string): object {
    return { tenant };
  }
}

@Injectable()
class Everywhere implements NestInterceptor {
  intercept: NestInterceptor['intercept'] = (_context, next) => next.handle();
}

@Injectable()
class Anybody implements CanActivate {
  canActivate = () => true;
}

const OPTIONS = { secret: 'a secret of a test', resave: false, saveUninitialized: false };

/** A module with a session for a route, as the documentation of Nest has it. */
function remembering(route: string): Type {
  @Module({})
  class RememberingModule implements NestModule {
    configure(consumer: MiddlewareConsumer): void {
      consumer.apply(session(OPTIONS)).forRoutes(route);
    }
  }
  return RememberingModule;
}

describe('A parameter that nothing fills', () => {
  let app: INestApplication | undefined;
  afterEach(() => app?.close());
  afterAll(() => Promise.all(databases.map((drop) => drop())));

  type Prepare = (app: INestApplication) => unknown;
  const nothing: Prepare = () => undefined;

  async function start(controllers: Type[], prepare: Prepare = nothing, ...imports: object[]): Promise<void> {
    @Module({ controllers })
    class UnfilledModule {}
    const below = RouterModule.register([{ path: 'tenants/:tenant', module: UnfilledModule }]);
    app = await createApplication(await (await testingModule([UnfilledModule, below, ...imports])).compile());
    prepare(app);
    await app.init();
  }

  it.each([
    [
      '@SignedCookies() without a secret',
      [CookiesController],
      /@SignedCookies\(\).+- GET cookies \(CookiesController/s,
    ],
    ['@Session() without middleware', [SessionsController], /@Session\(\).+express-session.+SessionsController\.read/s],
    ['@UploadedFile() without an interceptor', [FilesController], /FilesController\.one\).+FilesController\.many\)/s],
    [
      '@HostParam() of no host',
      [HostsController, OtherHostsController],
      /HostsController\.read.+OtherHostsController/s,
    ],
    ['@Param() of another name', [PartsController], /PartsController\.read: @Param\('Id'\) of \/api\/\S+\/parts\/:id/],
  ])('stops the start: %s', async (_name, controllers, message) => {
    await expect(start(controllers)).rejects.toThrow(message);
  });

  it('stops the start also beside middleware of other paths', async () => {
    const elsewhere: Prepare = (one) => one.use('/api/elsewhere', cookieParser('a secret of a test'));
    await expect(start([CookiesController], elsewhere)).rejects.toThrow('@SignedCookies()');
  });

  it('may be filled by middleware of app.use()', async () => {
    await start([CookiesController, SessionsController, FilesController], (one) => one.use(cookieParser('a secret')));
  });

  it('may be filled by middleware of a module', async () => {
    @Module({})
    class ParsingModule {
      configure(consumer: MiddlewareConsumer): void {
        const route = { path: 'tenants/:tenant/cookies', method: RequestMethod.GET };
        consumer.apply(cookieParser('a secret of a test')).forRoutes(route);
      }
    }
    await start([CookiesController], nothing, ParsingModule);
  });

  it.each([
    ...['*', '*splat', '{*splat}', 'tenants/*splat', 'tenants/:tenant/sessions'],
    ...[SessionsController, { path: 'tenants/:tenant/sessions', method: RequestMethod.GET }],
  ])('may be filled by middleware of a module for %p', async (route) => {
    await start([SessionsController], nothing, remembering(route as string));
  });

  it('stops the start also beside middleware of a module for other paths', async () => {
    await expect(start([SessionsController], nothing, remembering('sessions'))).rejects.toThrow('@Session()');
  });

  it('may be filled by middleware of Express, as the documentation has it', async () => {
    await start([SessionsController], (one) => one.use(session(OPTIONS)));
  });

  it('may be filled by an interceptor of all routes', async () => {
    @Module({ providers: [{ provide: APP_INTERCEPTOR, useClass: Everywhere }] })
    class InterceptingModule {}
    await start([FilesController, SessionsController], nothing, InterceptingModule);
  });

  it.each([
    ['APP_GUARD', Scope.DEFAULT],
    ['APP_GUARD for each request', Scope.REQUEST],
  ])('may be filled by a guard of all routes if it is a session: %s', async (_name, scope) => {
    @Module({ providers: [{ provide: APP_GUARD, useClass: Anybody, scope }] })
    class GuardingModule {}
    await start([SessionsController], nothing, GuardingModule);
  });

  it('may be filled by a guard of useGlobalGuards() if it is a session, and is no file', async () => {
    const guarded: Prepare = (one) => one.useGlobalGuards(new Anybody());
    await expect(start([FilesController], guarded)).rejects.toThrow('@UploadedFile()');
    await start([SessionsController], guarded);
  });

  it('may be filled by a guard or an interceptor of the route, by its host or by its path', async () => {
    await start([GuardedSessionsController, InterceptedController, NamedHostsController, NamedPartsController]);
  });
});
