import { Body, Controller, Get, HttpCode, Module, Post, Query, type Type } from '@nestjs/common';
import { Public, Role, Roles } from '../../src/platform';
import { DeclaredAccess } from '../../src/platform/auth/declared-access';
import type { Client } from '../../src/platform/testing';
import { startApp } from '../support/test-app';
import { type TestUser, useTestApi } from '../support/test-api';

/** Handlers without an access of their own. */
abstract class Listing {
  @Get('list')
  list(): object {
    return { by: this.constructor.name };
  }

  @Get('search')
  search(@Query('q') q?: string): object {
    return { q: q ?? null };
  }
}

/** One that a decorator has wrapped, as those do that time, cache or retry. */
function Wrapped(): MethodDecorator {
  return (_target, _name, descriptor) => {
    const inner = descriptor.value as unknown as (...values: unknown[]) => unknown;
    descriptor.value = function (this: unknown, ...values: unknown[]) {
      return inner.apply(this, values);
    } as never;
  };
}

@Controller('wrapping')
class WrappingController {
  @Post()
  @Public()
  @HttpCode(200)
  @Wrapped()
  echo(@Body() body: Record<string, unknown>): object {
    return body;
  }
}

/** Two controllers with the same handlers: an open one, and one for administrators. */
function pair(name: string, make: (access: ClassDecorator, path: string) => Type) {
  return [make(Public(), `${name}-open`), make(Roles(Role.ADMIN), `${name}-secret`)];
}

const families = {
  inherited: pair('inherited', (access, path) => {
    @Controller(path)
    @access
    class Inheriting extends Listing {}
    return Inheriting;
  }),
  mixin: pair('mixin', (access, path) => {
    const Mixin = (Base: abstract new () => Listing) => {
      abstract class Mixed extends Base {}
      return Mixed;
    };
    @Controller(path)
    @access
    class Mixing extends Mixin(Listing) {}
    return Mixing;
  }),
  copied: pair('copied', (access, path) => {
    @Controller(path)
    @access
    class Copying {}
    const handler = Object.getOwnPropertyDescriptor(Listing.prototype, 'list')!;
    Object.defineProperty(Copying.prototype, 'list', handler);
    return Copying;
  }),
};

@Module({ controllers: [...Object.values(families).flat(), WrappingController] })
class ListingModule {}

const both = <T>(one: T, other: T): T[][] => [
  [one, other],
  [other, one],
  [one, other, one, other],
];

describe.each(Object.keys(families))('A handler that two controllers have (%s)', (family) => {
  describe.each(both('open', 'secret'))('asked for in the order %s, %s', (...order) => {
    const api = useTestApi({ imports: [ListingModule] });
    let admin: TestUser;
    let user: TestUser;

    beforeAll(async () => {
      admin = await api.admin();
      user = await api.user();
    });

    it('has in each of them the access that is declared there', async () => {
      const callers: [string, Client, number][] = [
        ['anyone', api, 401],
        ['a user', api.as(user), 403],
        ['an administrator', api.as(admin), 200],
      ];
      for (const [name, client, ofTheSecret] of callers) {
        for (const kind of order) {
          const { status } = await client.get(`/${family}-${kind}/list`);
          expect([name, kind, status]).toEqual([name, kind, kind === 'open' ? 200 : ofTheSecret]);
        }
      }
    });
  });
});

describe('A handler that is inherited, or wrapped', () => {
  const api = useTestApi({ imports: [ListingModule] });

  it('is listed for each controller that has it', () => {
    const routes = api.app.nest.get(DeclaredAccess).routes();

    expect(routes.filter(({ handler, controller }) => handler === 'list' && controller === 'Inheriting')).toEqual([
      expect.objectContaining({ access: { kind: 'public', identifies: true } }),
      expect.objectContaining({ access: { kind: 'roles', roles: [Role.ADMIN] } }),
    ]);
  });

  it('keeps its parameters', async () => {
    expect((await api.get('/inherited-open/search?q=x')).body.data).toEqual({ q: 'x' });
    expect((await api.post('/wrapping', { a: 1 })).body.data).toEqual({ a: 1 });
  });

  it('stops the start where one of its controllers says nothing of access', async () => {
    @Controller('declared')
    @Public()
    class DeclaredController extends Listing {}
    @Controller('undeclared')
    class UndeclaredController extends Listing {}
    @Module({ controllers: [DeclaredController, UndeclaredController] })
    class ForgetfulModule {}

    await expect(startApp({ imports: [ForgetfulModule] })).rejects.toThrow(
      /GET undeclared\/list \(UndeclaredController\.list\)/,
    );
    await expect(startApp({ imports: [ForgetfulModule] })).rejects.not.toThrow(/GET declared/);
  });
});
