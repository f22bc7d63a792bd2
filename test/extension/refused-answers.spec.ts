import { Controller, Get, type INestApplication, Module, Post, Redirect, Render, Res, type Type } from '@nestjs/common';
import type { Response } from 'express';
import { Creates, Idempotent, Public } from '../../src/platform';
import { startApp } from '../support/test-app';
import { ActionsController, ThingDto } from '../support/modules/returned-values';

async function refusalOf(controller: Type, prepare?: (app: INestApplication) => void): Promise<string> {
  @Module({ controllers: [controller] })
  class RefusedModule {}
  const app = await startApp({ imports: [RefusedModule], prepare }).catch((error: Error) => error);
  if (app instanceof Error) return app.message;
  await app.stop();
  return '';
}

describe('The start', () => {
  it('is refused for a view without an engine, and says the ways out', async () => {
    @Controller('pages')
    @Public()
    class PagesController {
      @Get()
      @Render('index')
      index(): object {
        return {};
      }
    }
    const refusal = await refusalOf(PagesController);

    expect(refusal).toContain('GET pages (PagesController.index)');
    expect(refusal).toContain('app.setViewEngine()');
  });

  it.each([
    [
      '@Res()',
      (): Type => {
        @Controller('kept')
        @Public()
        class KeptController {
          @Post()
          @Creates(ThingDto)
          create(@Res() response: Response): void {
            response.json({});
          }
        }
        return KeptController;
      },
    ],
    [
      '@Redirect()',
      (): Type => {
        @Controller('kept')
        @Public()
        class KeptController {
          @Post()
          @Idempotent()
          @Redirect('/')
          create(): void {}
        }
        return KeptController;
      },
    ],
  ])('is refused for an Idempotency-Key whose answer nobody could keep: %s', async (_name, make) => {
    const refusal = await refusalOf(make());

    expect(refusal).toContain('POST kept (KeptController.create)');
    expect(refusal).toContain('@Res({ passthrough: true })');
  });

  it('says which routes refuse an Idempotency-Key though they answer 201, and by which decorator they take one', async () => {
    @Module({ controllers: [ActionsController] })
    class ActionsModule {}
    const app = await startApp({ imports: [ActionsModule] });
    const lines = app.log.map(({ msg }) => String(msg)).filter((line) => line.includes('refuse an Idempotency-Key'));
    await app.stop();

    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('POST pay (ActionsController.pay)');
    expect(lines[0]).toContain('@Creates(Dto)');
    expect(lines[0]).not.toMatch(/createPart|copy|Products|Tokens|Uploads/);
  });
});
