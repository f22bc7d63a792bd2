import { Controller, Get, Injectable, Module, Param, ServiceUnavailableException } from '@nestjs/common';
import {
  HealthCheck,
  type HealthCheckResult,
  HealthCheckService,
  type HealthIndicatorResult,
  HealthIndicatorService,
  MemoryHealthIndicator,
  TerminusModule,
  TypeOrmHealthIndicator,
} from '@nestjs/terminus';
import { Public } from '../../src/platform';
import { expectError, expectSuccess } from '../../src/platform/testing';
import { useTestApi } from '../support/test-api';

let badboys = 0;

/** As in the documentation of Terminus. */
@Injectable()
class DogHealthIndicator {
  constructor(private readonly healthIndicatorService: HealthIndicatorService) {}

  isHealthy(key: string): HealthIndicatorResult {
    const indicator = this.healthIndicatorService.check(key);
    if (badboys > 0) return indicator.down({ badboys, message: 'they bark at 10.0.0.7:5432' });
    return indicator.up();
  }
}

@Controller('health')
@Public()
class DogsController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly dogs: DogHealthIndicator,
    private readonly database: TypeOrmHealthIndicator,
    private readonly memory: MemoryHealthIndicator,
  ) {}

  @Get('dogs')
  @HealthCheck()
  check(): Promise<HealthCheckResult> {
    return this.health.check([
      () => this.dogs.isHealthy('dog'),
      () => this.database.pingCheck('database'),
      () => this.memory.checkHeap('memory_heap', 8 * 2 ** 30),
    ]);
  }
}

/** What no check of Terminus says, but any code may throw. */
const OTHER_BODIES: Record<string, object> = {
  'no-error': { status: 'error', error: null, details: {} },
  'no-details': { status: 'error', error: { dog: {} }, details: null },
  'nothing-of-one': { status: 'error', error: { dog: null }, details: {} },
};

@Controller('health/others')
@Public()
class OtherChecksController {
  @Get(':name')
  check(@Param('name') name: string): never {
    throw new ServiceUnavailableException(OTHER_BODIES[name]);
  }
}

@Module({
  imports: [TerminusModule],
  controllers: [DogsController, OtherChecksController],
  providers: [DogHealthIndicator],
})
class DogsModule {}

describe("A health check of a team's", () => {
  const api = useTestApi({ imports: [DogsModule] });

  it('answers what works', async () => {
    badboys = 0;
    const { status, error, details } = expectSuccess(await api.get('/health/dogs')) as Record<string, object>;

    expect([status, error]).toEqual(['ok', {}]);
    expect(details).toMatchObject({ dog: { status: 'up' }, database: { status: 'up' }, memory_heap: { status: 'up' } });
  });

  it.each(Object.keys(OTHER_BODIES))('is 503 whatever is null in what it throws: %s', async (name) => {
    expectError(await api.get(`/health/others/${name}`), 'SERVICE_UNAVAILABLE');
  });

  it('names what does not work, and says in the log alone why', async () => {
    badboys = 1;
    const answer = await api.get('/health/dogs');

    expect(expectError(answer, 'SERVICE_UNAVAILABLE').message).toBe('These checks failed: dog');
    expect(answer.text).not.toContain('10.0.0.7');
    const requestId = answer.headers.get('x-request-id');
    expect(api.app.log).toContainEqual(
      expect.objectContaining({
        request_id: requestId,
        err: expect.objectContaining({ message: 'These checks failed: dog (they bark at 10.0.0.7:5432)' }),
      }),
    );
  });
});
