import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { Controller, Get, Module, NotFoundException, Param, Res } from '@nestjs/common';
import type { Response } from 'express';
import { Public } from '../../src/platform/auth/access.decorators';
import { createDatabase, dropDatabase, expectError, headerOf, RawConnection, times } from '../../src/platform/testing';
import { TestApi, useTestApi } from '../support/test-api';
import { TcpProxy } from '../support/tcp-proxy';
import { startApp } from '../support/test-app';
import { SECRET, raise } from '../support/modules/accidents';

/** What a handler may do after its request was given up. */
const endings: Record<string, (response: Response) => unknown> = {
  'throws an Error': () => raise(new Error(SECRET)),
  'throws nothing': () => raise(undefined),
  'throws an error of the client': () => raise(new NotFoundException()),
  'returns a value': () => ({ late: true }),
  'sets a header': (response) => response.setHeader('X-Late', 'yes'),
};
const clock = new EventEmitter();

@Controller('slow')
@Public()
class SlowController {
  @Get(':ending')
  async get(@Param('ending') ending: string, @Res({ passthrough: true }) response: Response): Promise<unknown> {
    await once(clock, 'late');
    return endings[ending](response);
  }
}

@Module({ controllers: [SlowController] })
class SlowModule {}

describe('a handler that takes too long', () => {
  const api = useTestApi({ imports: [SlowModule], settings: { REQUEST_TIMEOUT: '1000' } });

  it.each(Object.keys(endings))('is answered 503, once, whatever it does later: %s', async (ending) => {
    const connection = await RawConnection.open(api.app.port);
    const id = randomUUID();
    const get = (path: string) => connection.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nX-Request-Id: ${id}\r\n\r\n`);

    get(`/api/v1/slow/${encodeURIComponent(ending)}`);
    expectError(await connection.answer(), 'SERVICE_UNAVAILABLE', { secret: SECRET });
    clock.emit('late');
    get('/api/v1/public');
    get('/nothing');
    const answers = await connection.answers(3);
    connection.destroy();

    expect(answers.map(({ status }) => status)).toEqual([503, 200, 404]);
    expect(headerOf(answers[0], 'x-late')).toBeUndefined();
    // What comes too late is no news, unless it went wrong.
    const wrong = api.app.log.filter(({ request_id, err }) => request_id === id && err);
    expect(wrong).toHaveLength(/^returns|client$/.test(ending) ? 0 : 1);
  });
});

describe('a database that is away', () => {
  const api = new TestApi();
  const proxy = new TcpProxy();
  const name = `${process.env.TEST_DATABASE_PREFIX}_away_${process.pid}`;

  beforeAll(async () => {
    const url = await createDatabase(
      process.env.TEST_SERVER_URL!,
      name,
      `${process.env.TEST_DATABASE_PREFIX}_template`,
    );
    api.app = await startApp({ databaseUrl: await proxy.start(url) });
  });

  afterAll(async () => {
    await api.app?.stop();
    proxy.stop();
    await dropDatabase(process.env.TEST_SERVER_URL!, name);
  });

  it('is a 503 with Retry-After while it lasts, and nothing when it is over', async () => {
    const user = await api.user();
    const read = () => api.as(user).get('/users/profile');
    expect(await read()).toMatchObject({ status: 200 });

    proxy.refuse();
    const answers = await Promise.all(times(5, read));
    const ready = await api.get('//health/ready');
    proxy.accept();

    answers.forEach((answer) => expectError(answer, 'SERVICE_UNAVAILABLE'));
    expectError(ready, 'SERVICE_UNAVAILABLE');
    expect(await read()).toMatchObject({ status: 200 });
  });
});
