import { Controller, Delete, Get } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { Public, Roles } from '../../src/auth/access.decorators';
import { Role } from '../../src/auth/caller';
import { DeclaredAccess } from '../../src/auth/declared-access';
import { StartupError } from '../../src/config/startup-error';

@Controller('forgotten')
class ForgottenController {
  @Get()
  @Public()
  list(): void {}

  @Get(':id')
  get(): void {}

  @Delete(':id')
  remove(): void {}
}

@Controller('declared')
@Roles(Role.USER)
class DeclaredController {
  @Get()
  list(): void {}
}

async function start(...controllers: (new () => unknown)[]): Promise<void> {
  const module = await Test.createTestingModule({
    imports: [DiscoveryModule],
    controllers,
    providers: [DeclaredAccess],
  }).compile();
  const app = module.createNestApplication();
  try {
    await app.init();
  } finally {
    await app.close();
  }
}

describe('A route that does not say who may call it', () => {
  it('stops the start, which lists all of them', async () => {
    await expect(start(ForgottenController, DeclaredController)).rejects.toThrow(
      new StartupError(
        "These routes don't say who may call them; add @Public() or @Roles():\n" +
          '  - GET forgotten/:id (ForgottenController.get)\n' +
          '  - DELETE forgotten/:id (ForgottenController.remove)',
      ),
    );
  });

  it('is one that neither it nor its controller has anything to say about', async () => {
    await expect(start(DeclaredController)).resolves.toBeUndefined();
  });
});
