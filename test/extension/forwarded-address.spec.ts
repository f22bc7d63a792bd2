import { Controller, Get, Ip, type MiddlewareConsumer, Module, type NestModule } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { Public } from '../../src/platform';
import { useTestApi } from '../support/test-api';

@Controller('addresses')
@Public()
class AddressController {
  @Get()
  find(@Ip() address: string): object {
    return { address };
  }
}

/** As some content delivery networks document it: the client's address comes in a header of their own. */
function takeAddress(request: Request, _response: Response, next: NextFunction): void {
  // Read before as well, as a log does.
  if (request.ip && request.headers['x-client']) request.headers['x-forwarded-for'] = request.headers['x-client'];
  next();
}

@Module({ controllers: [AddressController] })
class AddressModule implements NestModule {
  configure(consumer: MiddlewareConsumer): void {
    consumer.apply(takeAddress).forRoutes(AddressController);
  }
}

describe('The address of a request', () => {
  const api = useTestApi({ settings: { TRUST_PROXY: '1' }, imports: [AddressModule] });
  const addressFor = async (headers: Record<string, string>) =>
    (await api.get('/addresses', headers)).body.data as unknown;

  it('is that of the header that middleware has replaced', async () => {
    const forwarded = { 'X-Forwarded-For': '192.0.2.1' };

    expect(await addressFor(forwarded)).toEqual({ address: '192.0.2.1' });
    expect(await addressFor({ ...forwarded, 'X-Client': '192.0.2.2' })).toEqual({ address: '192.0.2.2' });
  });
});
