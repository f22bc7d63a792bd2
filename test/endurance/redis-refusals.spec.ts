import type { Socket } from 'node:net';
import { times, waitFor } from '../../src/platform/testing';
import { TcpProxy } from '../support/tcp-proxy';
import { TestApi } from '../support/test-api';
import { startApp } from '../support/test-app';

const LIMIT = 3;
const READY = 'redis_version:7.0.0\r\nloading:0\r\n';
const COMMAND = /\*\d+\r\n\$\d+\r\n(\w+)\r\n(?:\$\d+\r\n[^\r]*\r\n)*/g;
const READONLY = "-READONLY You can't write against a read only replica.\r\n";

/** Answers like a Redis that holds nothing, and writes by this text. */
function answerAsRedis(client: Socket, onWrite: string): void {
  client.on('data', (bytes) => {
    for (const [, name] of bytes.toString().matchAll(COMMAND)) client.write(answerTo(name.toLowerCase(), onWrite));
  });
}

function answerTo(name: string, onWrite: string): string {
  if (name === 'info') return `$${READY.length}\r\n${READY}\r\n`;
  if (['eval', 'evalsha', 'del'].includes(name)) return onWrite;
  if (['get', 'pttl'].includes(name)) return '+QUEUED\r\n';
  return name === 'exec' ? '*2\r\n$-1\r\n:-2\r\n' : '+OK\r\n';
}

describe.each([
  ['refuses writes, as after a failover', READONLY],
  ['makes up what it was not asked for', '+OK\r\n'],
])('A Redis that %s', (_what, onWrite) => {
  const redis = new TcpProxy();
  const api = new TestApi();

  beforeAll(async () => {
    redis.impersonate((client) => answerAsRedis(client, onWrite));
    const limits = { LOGIN_RATE_LIMIT: String(LIMIT), LOGIN_ACCOUNT_LIMIT: String(LIMIT), PUBLIC_RATE_LIMIT: '2' };
    const settings = {
      REDIS_URL: await redis.start('redis://127.0.0.1'),
      TRUST_PROXY: '1',
      LOGIN_ACCOUNT_DELAY: '1',
      LOGIN_ADDRESS_LIMIT: '1000',
      ...limits,
    };
    api.app = await startApp({ settings });
  });
  afterAll(async () => {
    await api.app.stop();
    redis.stop();
  });

  const from = (address: number) => api.with({ 'X-Forwarded-For': `10.1.${address}.1` });
  const signIn = async (address: number, username: string, password: string) =>
    (await from(address).post('/auth/tokens', { username, password })).status;

  it('leaves the limit of an account and an address: the right password is not told either', async () => {
    const { username, password } = await api.user();
    for (const guess of times(LIMIT, String)) expect(await signIn(1, username, guess)).toBe(401);

    expect(await signIn(1, username, 'wrong')).toBe(429);
    expect(await signIn(1, username, password)).toBe(429);
  });

  it('leaves the delay of an account for all addresses, after which its owner signs in', async () => {
    const { username, password } = await api.user();
    for (const address of times(LIMIT, (index) => 10 + index)) expect(await signIn(address, username, 'no')).toBe(401);

    expect(await signIn(20, username, password)).toBe(429);
    await waitFor(async () => (await signIn(20, username, password)) === 201);
  });

  it('leaves the limit of GET /public', async () => {
    const answers = [];
    for (let turn = 0; turn < LIMIT; turn++) answers.push((await from(30).get('/public')).status);

    expect(answers).toEqual([200, 200, 429]);
  });
});
