import { EventEmitter, once } from 'node:events';
import { availableParallelism } from 'node:os';
import { Controller, HttpCode, Module, Post } from '@nestjs/common';
import { Public } from '../../src/platform/auth/access.decorators';
import { hashing } from '../../src/platform/auth/passwords';
import { Semaphore } from '../../src/platform/limits/semaphore';
import { countStatuses, RawConnection, times, waitFor } from '../../src/platform/testing';
import { UnitOfWork } from '../../src/platform/transactions/unit-of-work';
import { useTestApi } from '../support/test-api';

/** How many hash at once, and how many may wait for that. */
const PLACES = Math.min(availableParallelism(), 3);
const MAX_WAITING = 100;

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
  // The limit is for slow machines.
  const api = useTestApi({ settings: { REDIS_URL: '', DATABASE_POOL_SIZE: '2', REQUEST_TIMEOUT: '60000' } });
  let free: () => Promise<unknown>;
  afterEach(() => free?.());

  /** Takes the places of all that hash, so that others have to wait until they are freed. */
  function takeAllPlaces(): void {
    let end: () => void;
    const ends = new Promise<void>((resolve) => (end = resolve));
    const held = times(PLACES, () => hashing.run(() => ends));
    free = () => {
      end();
      return Promise.all(held);
    };
  }

  it('are hashed a few at a time, with so many waiting, and the rest may come back in a second', async () => {
    const user = await api.user();
    takeAllPlaces();
    let refusals = 0;
    const signIn = async (index: number) => {
      const answer = await api.post('/auth/tokens', { username: `nobody ${index}`, password: 'wrong' });
      if (answer.status === 503) refusals++;
      return answer;
    };
    const signingIn = Promise.all(times(400, signIn));
    await waitFor(() => refusals === 400 - MAX_WAITING, 60_000);
    await free();
    const answers = await signingIn;

    expect(countStatuses(answers)).toEqual({ 401: MAX_WAITING, 503: 400 - MAX_WAITING });
    const refused = answers.find(({ status }) => status === 503)!;
    expect(refused.body.error.code).toBe('SERVICE_UNAVAILABLE');
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(await api.post('/auth/tokens', { username: user.username, password: user.password })).toMatchObject({
      status: 201,
    });
  }, 180_000);

  it.each([
    ['with a key', (index: number) => ({ 'Idempotency-Key': `registration ${index}` })],
    ['without a key', () => ({})],
  ])('hold no connection to the database while they wait, in a registration %s', async (how, headers) => {
    takeAllPlaces();
    let registered = 0;
    const registrations = times(6, async (index) => {
      const username = `waits-${how.length}-${index}`;
      const body = { username, email: `${username}@example.com`, password: 'a password of a test' };
      const answer = await api.post('/users', body, headers(index));
      registered++;
      return answer;
    });
    await waitFor(() => hashing['queue'].size === 6);
    // All connections would be taken.
    for (let round = 0; round < 8; round++) await api.get('/products');
    expect(registered).toBe(0);
    await free();

    expect(countStatuses(await Promise.all(registrations))).toEqual({ 201: 6 });
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
  const imports = [WaitingModule];
  // Longer than a test may last: only the client ends the wait.
  const patient = useTestApi({ settings: { REQUEST_TIMEOUT: '120000' }, imports });
  const api = useTestApi({ settings: { REQUEST_TIMEOUT: '1000' }, imports });
  const request = 'POST /api/v1/waiting HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n';
  let end: () => void;
  beforeEach(() => void QUEUE.run(() => new Promise<void>((resolve) => (end = resolve))));
  afterEach(() => end());

  it('when its client has gone', async () => {
    const waits = once(events, 'waits');
    const connection = await RawConnection.open(patient.app.port);
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
