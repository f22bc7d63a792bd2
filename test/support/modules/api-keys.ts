import {
  Controller,
  Get,
  HttpCode,
  Injectable,
  Module,
  Post,
  Req,
  type Type,
  UnauthorizedException,
  UseGuards,
  Body,
} from '@nestjs/common';
import { AuthGuard, PassportStrategy } from '@nestjs/passport';
import type { Request } from 'express';
import { Strategy as PassportBase } from 'passport';
import { DataSource } from 'typeorm';
import { type Caller, CurrentUser, Idempotent, insertRow, Public, Role, Roles } from '../../../src/platform';
import { Strategies } from '../../../src/platform/features';
import { Product } from '../../../src/resources/products/product.entity';
import { startApp } from '../test-app';

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
export const keys = new Map<string, Omit<Caller, 'authenticatedAt'>>();

@Injectable()
export class ApiKeyStrategy extends PassportStrategy(HeaderKeyStrategy, 'api-key') {
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
export const meanwhile: { run: () => Promise<unknown> } = { run: () => Promise.resolve() };

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
      await meanwhile.run();
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
export class KeysModule {}

/** The start of an application with one more controller. */
export function startWith(...controllers: Type[]): Promise<void> {
  @Module({ controllers, providers: [ApiKeyStrategy] })
  class ExtraModule {}
  return startApp({ imports: [ExtraModule] }).then((app) => app.stop());
}
