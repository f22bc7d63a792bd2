import { EventEmitter, once } from 'node:events';
import { Controller, HttpCode, Module, Post } from '@nestjs/common';
import { Public } from '../../src/auth/access.decorators';
import { hashPassword } from '../../src/auth/passwords';
import { Semaphore } from '../../src/auth/semaphore';
import { UnitOfWork } from '../../src/database/unit-of-work';
import { RawConnection } from '../support/raw-http';
import { countStatuses, times, useTestApi } from '../support/test-api';

const QUEUE = new Semaphore(1, 1);
const events = new EventEmitter();

@Controller('waiting')
@Public()
class WaitingController {
  @Post()
  @HttpCode(204)
  async wait(): Promise<void> {
    const { signal } = UnitOfWork.current()!;
    const turn = QUEUE.run(() => Promise.resolve(), signal);
    events.emit('waits');
    await turn.catch(() => events.emit('left'));
  }
}

@Module({ controllers: [WaitingController] })
class WaitingModule {}

describe('Passwords', () => {
  const api = useTestApi({ settings: { REDIS_URL: '', DATABASE_POOL_SIZE: '2' } });

  /** Hashes all the time, so that others have to wait for their turn; returns what ends it. */
  function keepHashing(): () => Promise<unknown> {
    let ends = false;
    const worker = async () => {
      while (!ends) await hashPassword('of the test itself').catch(() => undefined);
    };
    const workers = times(20, worker);
    return () => {
      ends = true;
      return Promise.all(workers);
    };
  }

  it('are hashed a few at a time, with so many waiting, and the rest may come back in a second', async () => {
    const signIn = (index: number) => api.post('/auth/tokens', { username: `nobody ${index}`, password: 'wrong' });
    const answers = await Promise.all(times(400, signIn));
    const counts = countStatuses(answers);

    expect(counts[401] + counts[503]).toBe(400);
    expect(counts[401]).toBeGreaterThanOrEqual(100);
    expect(counts[503]).toBeGreaterThanOrEqual(1);
    const refused = answers.find(({ status }) => status === 503)!;
    expect(refused.body.error.code).toBe('SERVICE_UNAVAILABLE');
    expect(refused.headers.get('retry-after')).toBe('1');
    const user = await api.user();
    expect(await api.post('/auth/tokens', { username: user.username, password: user.password })).toMatchObject({
      status: 201,
    });
  });

  it.each([
    ['with a key', (index: number) => ({ 'Idempotency-Key': `registration ${index}` })],
    ['without a key', () => ({})],
  ])('hold no connection to the database while they wait, in a registration %s', async (how, headers) => {
    const stop = keepHashing();
    let registered = 0;
    const registrations = times(6, async (index) => {
      const username = `waits-${how.length}-${index}`;
      const body = { username, email: `${username}@example.com`, password: 'a password of a test' };
      const answer = await api.post('/users', body, headers(index));
      registered++;
      return answer;
    });
    const before: number[] = [];
    for (let round = 0; round < 8; round++) {
      await api.get('/products');
      before.push(registered);
    }
    const answers = await Promise.all(registrations);
    await stop();

    // All connections would be taken until one of them has its hash.
    expect(before.slice(0, 3)).toEqual([0, 0, 0]);
    expect(countStatuses(answers)).toEqual({ 201: 6 });
  });

  it('have no idempotency key repeat them, nor two registrations of one key', async () => {
    const body = { username: 'keyed', email: 'keyed@example.com', password: 'a password of a test' };
    const headers = { 'Idempotency-Key': 'a key of a registration' };
    const first = await api.post('/users', body, headers);
    const second = await api.post('/users', body, headers);

    expect(first).toMatchObject({ status: 201 });
    expect(second).toMatchObject({ status: 201, body: first.body });
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    expect(await api.post('/users', { ...body, password: 'another password' }, headers)).toMatchObject({ status: 422 });
    const { username, password } = body;
    expect(await api.post('/auth/tokens', { username, password })).toMatchObject({ status: 201 });
  });
});

describe('What waits for its turn leaves the queue', () => {
  const api = useTestApi({ settings: { REQUEST_TIMEOUT: '1000' }, imports: [WaitingModule] });
  const request = 'POST /api/v1/waiting HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n';
  let end: () => void;
  beforeEach(() => void QUEUE.run(() => new Promise<void>((resolve) => (end = resolve))));
  afterEach(() => end());

  it('when its client has gone', async () => {
    const waits = once(events, 'waits');
    const connection = await RawConnection.open(api.app.port);
    connection.write(request);
    await waits;
    const left = once(events, 'left');
    connection.reset();

    await left;
  });

  it('when its request has taken too long', async () => {
    const left = once(events, 'left');
    const connection = await RawConnection.open(api.app.port);

    expect(await connection.write(request).answer()).toMatchObject({ status: 503 });
    await left;
    connection.destroy();
  });
});
