import { Controller, Get, Module, Post, Version } from '@nestjs/common';
import { ApiExcludeController, ApiExcludeEndpoint } from '@nestjs/swagger';
import { Public, Role, Roles } from '../../src/platform';
import { useTestApi } from '../support/test-api';

@Controller('cups')
@Public()
class CupsController {
  @Get()
  list(): object {
    return {};
  }

  @Post()
  @ApiExcludeEndpoint()
  create(): object {
    return {};
  }

  @Get('rare')
  @Version('2')
  rare(): object {
    return {};
  }

  @Get(':id')
  get(): object {
    return {};
  }
}

@Controller('hidden-cups')
@ApiExcludeController()
@Public()
class HiddenCupsController {
  @Get()
  list(): object {
    return {};
  }
}

abstract class Saucers {
  @Get()
  list(): object {
    return {};
  }
}

@Controller('saucers')
@Public()
class SaucersController extends Saucers {}

@Controller('hot-saucers')
@Roles(Role.ADMIN)
class HotSaucersController extends Saucers {}

@Module({ controllers: [CupsController, HiddenCupsController, SaucersController, HotSaucersController] })
class CupsModule {}

describe('The routes of a team', () => {
  const api = useTestApi({ imports: [CupsModule] });

  const linked = async (version: number) => {
    const { resources } = (await api.get(`//api/v${version}`)).body.data as {
      resources: { name: string; methods: string[] }[];
    };
    return resources.filter(({ name }) => /cups|saucers/.test(name)).map(({ name, methods }) => [name, methods.join()]);
  };

  it('are in the index of their version by themselves, except for hidden ones', async () => {
    const inAll = [
      ['cups', 'GET'],
      ['hot-saucers', 'GET'],
      ['saucers', 'GET'],
    ];

    expect(await linked(1)).toEqual(inAll);
    expect(await linked(2)).toEqual([inAll[0], ['cups/rare', 'GET'], ...inAll.slice(1)]);
  });

  it('are listed by OPTIONS where one of the classes that inherit a handler lets the caller in', async () => {
    const user = api.as(await api.user());

    expect((await user.options('/saucers')).headers.get('allow')).toBe('GET, HEAD, OPTIONS');
    expect((await user.options('/hidden-cups')).headers.get('allow')).toBe('GET, HEAD, OPTIONS');
  });
});
