import { Controller, Get, Module } from '@nestjs/common';
import { Public, Role, Roles } from '../../src/platform';
import { declareAccess } from '../../src/platform/features';
import { startApp } from '../support/test-app';
import { KeysModule, startWith } from '../support/modules/api-keys';

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
    const app = await startApp({ imports: [LibraryModule] });
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
