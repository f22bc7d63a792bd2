import {
  All,
  Controller,
  Get,
  Head,
  type INestApplication,
  Module,
  Next,
  Res,
  type Type,
  Version,
} from '@nestjs/common';
import type { NextFunction, Response } from 'express';
import { Public } from '../../src/platform';
import { createApplication } from '../../src/platform/programs';
import { databases, testingModule } from '../support/modules/kettles';

@Controller('pens')
@Public()
class PensController {
  @Get()
  list(): object {
    return {};
  }
}

@Controller('pens')
@Public()
class OtherPensController {
  @Get()
  again(): object {
    return {};
  }
}

@Controller({ path: 'pens', version: '2' })
@Public()
class PensOfSecondController {
  @Get()
  list(): object {
    return {};
  }
}

@Controller('caps')
@Public()
class AfterAllController {
  @All(':id')
  all(): object {
    return {};
  }

  @Get(':name')
  get(): object {
    return {};
  }
}

@Controller('caps')
@Public()
class AfterGetController {
  @Get()
  get(): object {
    return {};
  }

  @Head()
  head(@Res() response: Response): void {
    response.end();
  }
}

@Controller({ path: 'caps', version: ['1', '2'] })
@Public()
class OfBothController {
  @Get()
  get(): object {
    return {};
  }
}

@Controller({ path: 'caps', version: '2' })
@Public()
class OfOneController {
  @Get()
  getOfSecond(): object {
    return {};
  }
}

@Controller('caps')
@Public()
class PassingController {
  @Get(':id')
  pass(@Next() next: NextFunction): void {
    next();
  }

  @Get(':id')
  get(): object {
    return {};
  }
}

@Controller({ path: 'caps', host: 'caps.example' })
@Public()
class AtOneHostController {
  @Get()
  get(): object {
    return {};
  }
}

@Controller('caps')
@Public()
class BesideController {
  @Get()
  get(): object {
    return {};
  }

  @All()
  others(): object {
    return {};
  }

  @Version('1')
  @Get('versions')
  first(): object {
    return {};
  }

  @Version('2')
  @Get('versions')
  second(): object {
    return {};
  }

  @Get('versions')
  further(): object {
    return {};
  }
}

describe('A route that could never answer', () => {
  let app: INestApplication | undefined;
  afterEach(() => app?.close());
  afterAll(() => Promise.all(databases.map((drop) => drop())));

  async function start(controllers: Type[], nest = {}): Promise<void> {
    @Module({ controllers })
    class TwiceModule {}
    app = await createApplication(await (await testingModule([TwiceModule])).compile(), { nest });
    await app.init();
  }

  it.each([
    [
      'of another controller',
      [PensController, OtherPensController],
      'PensController.list',
      'OtherPensController.again',
    ],
    ['after @All()', [AfterAllController], 'AfterAllController.all', 'AfterAllController.get'],
    ['of HEAD after GET', [AfterGetController], 'AfterGetController.get', 'AfterGetController.head'],
    ['of the same version', [OfOneController, OfBothController], 'OfOneController.getOfSecond', 'OfBothController.get'],
    ['of one version of several', [OfBothController, OfOneController], 'OfBothController.get', 'OfOneController.getOf'],
  ])('stops the start, and both are named: %s', async (_name, controllers, first, second) => {
    await expect(start(controllers)).rejects.toThrow(new RegExp(`${first}.+${second}`));
  });

  it('is not one that another passes requests on to, nor one for what others leave', async () => {
    await start([PassingController, AtOneHostController, BesideController]);
  });

  it('is named also where Nest compares routes by a policy for others', async () => {
    const nest = { routeConflictPolicy: { shadow: 'off' } };
    await expect(start([PensController, OtherPensController], nest)).rejects.toThrow(/PensController\.list, then/);
  });

  it('is left to Nest by a policy of the team, which takes a route without a version for one of each', async () => {
    const nest = { routeConflictPolicy: { duplicate: 'error' } };
    await expect(start([PensController, PensOfSecondController], nest)).rejects.toThrow(/PensOfSecondController#list/);
    await start([PensController, OtherPensController], { routeConflictPolicy: { duplicate: 'warn' } });
  });
});
