import { Controller, Get, Injectable, Module, Param, Post } from '@nestjs/common';
import { ScheduleModule, Timeout } from '@nestjs/schedule';
import { DataSource } from 'typeorm';
import { Idempotent, inBackground, Public, seconds, TakesUpTo } from '../../src/platform';
import { type Client, countStatuses, times, waitFor } from '../../src/platform/testing';
import { useTestApi } from '../support/test-api';

const LIMIT = 1_000;
const LONGER = 2.5 * LIMIT;
const POOL_SIZE = 2;

/** How each job has ended. */
const ends: Record<string, string> = {};

@Injectable()
class Sleeper {
  constructor(private readonly database: DataSource) {}

  async sleep(seconds: number): Promise<object> {
    await this.database.query('SELECT pg_sleep($1)', [seconds]);
    return { slept: seconds };
  }

  async end(name: string, work: () => Promise<unknown>): Promise<void> {
    ends[name] = await work().then(
      () => 'done',
      (error: Error) => error.message,
    );
  }
}

@Controller('sleeps')
@Public()
class SleepsController {
  constructor(private readonly sleeper: Sleeper) {}

  @Get('short/:seconds')
  readShortly(@Param('seconds') time: string): Promise<object> {
    return this.sleeper.sleep(Number(time));
  }

  @Post('short/:seconds')
  writeShortly(@Param('seconds') time: string): Promise<object> {
    return this.sleeper.sleep(Number(time));
  }

  @Get('long/:seconds')
  @TakesUpTo(seconds(4))
  readLongly(@Param('seconds') time: string): Promise<object> {
    return this.sleeper.sleep(Number(time));
  }

  @Post('long/:seconds')
  @TakesUpTo(seconds(4))
  @Idempotent()
  writeLongly(@Param('seconds') time: string): Promise<object> {
    return this.sleeper.sleep(Number(time));
  }
}

@Injectable()
class Jobs {
  constructor(private readonly sleeper: Sleeper) {}

  @Timeout(10)
  scheduled(): Promise<void> {
    return this.sleeper.end('scheduled', () => this.sleeper.sleep(LONGER / 1_000));
  }

  unscheduled(): Promise<void> {
    return this.sleeper.end('unscheduled', () => this.sleeper.sleep(LONGER / 1_000));
  }

  background(): Promise<void> {
    return this.sleeper.end('background', () => inBackground(() => this.sleeper.sleep(LONGER / 1_000)));
  }
}

@Module({
  imports: [ScheduleModule.forRoot()],
  controllers: [SleepsController],
  providers: [Sleeper, Jobs],
})
class SleepsModule {}

const settings = { REQUEST_TIMEOUT: String(LIMIT), DATABASE_POOL_SIZE: String(POOL_SIZE) };

describe('A time limit', () => {
  const api = useTestApi({ settings, imports: [SleepsModule] });
  const time = LONGER / 1_000;
  const methods: [
    string,
    (client: Client, path: string, headers?: Record<string, string>) => ReturnType<Client['get']>,
  ][] = [
    ['read', (client, path, headers) => client.get(path, headers)],
    ['write', (client, path, headers) => client.post(path, undefined, headers)],
  ];

  it('is that of its route, for the request and for its statements', async () => {
    for (const [kind, ask] of methods) {
      expect([kind, (await ask(api, `/sleeps/short/${time}`)).status]).toEqual([kind, 503]);
      const { status, body } = await ask(api, `/sleeps/long/${time}`);
      expect([kind, Math.floor(status / 100), body.data]).toEqual([kind, 2, { slept: time }]);
    }
    const keyed = await api.post(`/sleeps/long/${time}`, undefined, { 'Idempotency-Key': 'long' });
    expect(keyed.status).toBe(201);
  });

  it('of a route ends what takes longer', async () => {
    for (const [kind, ask] of methods) {
      const start = performance.now();
      expect([kind, (await ask(api, '/sleeps/long/60')).status]).toEqual([kind, 503]);
      expect(performance.now() - start).toBeGreaterThan(3_900);
    }
  });

  it('of one route is not that of the next one on its connection', async () => {
    await Promise.all(times(POOL_SIZE, () => api.get('/sleeps/long/0.1')));

    const answers = await Promise.all(times(POOL_SIZE, () => api.get(`/sleeps/short/${time}`)));

    expect(countStatuses(answers)).toEqual({ 503: POOL_SIZE });
  });

  it('of requests is none for jobs of a schedule, and for what runs in the background', async () => {
    await waitFor(() => ends.scheduled !== undefined);
    const jobs = api.app.nest.get(Jobs);
    await Promise.all([jobs.background(), jobs.unscheduled()]);

    expect(ends).toEqual({
      scheduled: 'done',
      background: 'done',
      unscheduled: 'canceling statement due to statement timeout',
    });
  });
});

describe('A time limit of jobs', () => {
  useTestApi({ settings: { ...settings, JOB_STATEMENT_TIMEOUT: '500' }, imports: [SleepsModule] });

  it('ends their statements', async () => {
    delete ends.scheduled;
    await waitFor(() => ends.scheduled !== undefined);

    expect(ends.scheduled).toBe('canceling statement due to statement timeout');
  });
});
