import { Controller, Get, Module } from '@nestjs/common';
import { Public } from '../../../src/platform';

/** A second controller of this name, in a module of its own. */
export const others = (() => {
  @Controller('more-pets')
  class SecuredPetsController {
    @Get('roles')
    @Public()
    roles(): object {
      return {};
    }
  }
  @Module({ controllers: [SecuredPetsController] })
  class MorePetsModule {}
  return MorePetsModule;
})();
