import { All, Controller, Get, Module, Post, Res } from '@nestjs/common';
import type { Response } from 'express';
import { Public } from '../../src/platform/auth/access.decorators';
import { expectError, times } from '../../src/platform/testing';
import { UnitOfWork } from '../../src/platform/transactions/unit-of-work';
import { useTestApi } from '../support/test-api';

@Controller('turns')
class TurnsController {
  /** Its answer can't be sent. */
  @Get('broken')
  @Public()
  broken(@Res({ passthrough: true }) response: Response): object {
    const writeHead = response.writeHead.bind(response);
    response.writeHead = () => {
      response.writeHead = writeHead;
      throw new Error('Broken');
    };
    return {};
  }

  @Get('work')
  @Public()
  read(): object {
    return { followed: UnitOfWork.current() !== undefined };
  }

  @Post('work')
  @Public()
  write(): object {
    return { followed: UnitOfWork.current() !== undefined };
  }

  @All('any')
  @Public()
  any(): object {
    return { followed: UnitOfWork.current() !== undefined };
  }
}

@Module({ controllers: [TurnsController] })
class TurnsModule {}

describe('Requests of one turn of the event loop', () => {
  const api = useTestApi({ imports: [TurnsModule] });

  it('are all answered, though one of the answers can’t be sent', async () => {
    const [broken, ...others] = await Promise.all([
      api.get('/turns/broken'),
      ...times(5, () => api.get('/turns/work')),
    ]);

    expectError(broken, 'INTERNAL_ERROR');
    expect(others.map(({ status }) => status)).toEqual(times(5, () => 200));
  });

  it('are followed where they may write', async () => {
    const answers = await Promise.all([api.get('/turns/work'), api.post('/turns/work'), api.post('/turns/any')]);

    expect(answers.map(({ body }) => body.data.followed)).toEqual([false, true, true]);
  });
});
