import { Controller, Get, Module } from '@nestjs/common';
import { Deprecated, Public } from '../../src/platform';
import { routesPastSunset } from '../support/past-sunset';
import { useTestApi } from '../support/test-api';

@Controller('lanterns')
@Public()
class LanternsController {
  @Get()
  @Deprecated({ since: '2026-01-01', sunset: '2026-07-01' })
  list(): object {
    return {};
  }

  @Get(':id')
  @Deprecated({ since: '2026-01-01' })
  get(): object {
    return {};
  }
}

@Module({ controllers: [LanternsController] })
class LanternsModule {}

describe('The routes of the service', () => {
  const api = useTestApi();

  it('have not reached their sunset: remove those that are listed here', () => {
    expect(routesPastSunset(api.app.nest, new Date())).toEqual([]);
  });
});

describe('A deprecated route', () => {
  const api = useTestApi({ imports: [LanternsModule] });

  it.each([
    ['2026-06-30T23:59:59Z', []],
    ['2026-07-01T00:00:00Z', ['GET lanterns (LanternsController.list)']],
    ['2036-07-01T00:00:00Z', ['GET lanterns (LanternsController.list)']],
  ])('is past its sunset from that day on: %s', (now, expected) => {
    const ofTest = routesPastSunset(api.app.nest, new Date(now)).filter((name) => name.includes('lanterns'));

    expect(ofTest).toEqual(expected);
  });
});
