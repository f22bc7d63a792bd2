import type { Server } from 'node:http';
import { promisify } from 'node:util';
import { making } from '../../src/platform/answers/large-page';
import { countStatuses, expectError, RawConnection, times, waitFor } from '../../src/platform/testing';
import { useTestApi } from '../support/test-api';
import { LargeModule } from '../support/modules/large';

jest.setTimeout(120_000);

describe('Large pages', () => {
  const api = useTestApi({ settings: { TRUST_PROXY: '1' } });
  /** So many posts fill a page of 8 MiB. */
  const POSTS = 25;
  /** So few are large enough to wait for their turn. */
  const FEW = 3;
  const IN_QUEUE = 32;

  beforeAll(async () => {
    const user = await api.user();
    const post = { title: 'Large', content: '<'.repeat(50_000) };
    for (let count = 0; count < POSTS; count++) await api.as(user).post('/posts', post);
  });

  /** An address in the neighbourhood of this number, which has its share in what lies unread. */
  const within = (neighbourhood: number) => `10.${neighbourhood}.0.1`;

  /** Clients that have asked, each from its own address. */
  async function asking(count: number, size: number, address: (client: number) => string): Promise<RawConnection[]> {
    const connections = await Promise.all(times(count, () => RawConnection.open(api.app.port)));
    return connections.map((connection, client) => {
      const head = `Host: x\r\nX-Forwarded-For: ${address(client)}\r\n\r\n`;
      return connection.write(`GET /api/v1/posts?size=${size} HTTP/1.1\r\n${head}`);
    });
  }

  /** The one that finds the queue full is answered at once; by then all others are in it. */
  const oneTooMany = (clients: RawConnection[]) => Promise.any(clients.map((client) => client.answer()));

  const connections = () =>
    promisify((done: (error: Error | null, count: number) => void) =>
      (api.app.nest.getHttpServer() as Server).getConnections(done),
    )();

  it.each([
    ['client leaves', () => within(1)],
    ['neighbourhood leaves, by many addresses,', (client: number) => `10.1.0.${client}`],
  ])('that one %s unread keep no other client from its own', async (_who, address) => {
    const hoarders = await asking(20, POSTS, address);
    await Promise.all(hoarders.map((hoarder) => hoarder.stall(60_000)));

    const answer = await api.get(`/posts?size=${POSTS}`, { 'X-Forwarded-For': '192.0.2.2' });
    expect(answer.status).toBe(200);
    for (const hoarder of hoarders) hoarder.destroy();
  });

  it('have a bound together, however many networks they are for', async () => {
    const hoarders = await asking(24, POSTS, (client) => within(10 + client));
    await Promise.all(hoarders.map((hoarder) => hoarder.stall(60_000)));

    const answer = await api.get(`/posts?size=${POSTS}`, { 'X-Forwarded-For': '198.51.100.1' });
    expectError(answer, 'SERVICE_UNAVAILABLE');
    for (const hoarder of hoarders) hoarder.destroy();
  });

  it('that nobody waits for any more leave their places in the queue to others', async () => {
    let free = () => undefined as void;
    const held = making.run(() => new Promise<void>((resolve) => (free = resolve)));
    const before = await connections();
    const leaving = await asking(IN_QUEUE + 1, FEW, within);
    expect((await oneTooMany(leaving)).status).toBe(503);
    for (const connection of leaving) connection.destroy();
    await waitFor(async () => (await connections()) <= before);

    const staying = await asking(IN_QUEUE + 1, FEW, within);
    await oneTooMany(staying);
    free();
    await held;
    const answers = await Promise.all(staying.map((connection) => connection.answer(60_000)));
    for (const connection of staying) connection.destroy();

    expect(countStatuses(answers)).toEqual({ 200: IN_QUEUE, 503: 1 });
  });

  it('that one network asks for leave a stranger a place in the queue', async () => {
    let free = () => undefined as void;
    const held = making.run(() => new Promise<void>((resolve) => (free = resolve)));
    const flood = await asking(IN_QUEUE + 1, FEW, () => within(1));
    let refused = 0;
    const answers = flood.map(async (client) => {
      const { status } = await client.answer(60_000);
      if (status === 503) refused++;
    });
    await waitFor(() => refused === 1);
    const [stranger] = await asking(1, FEW, () => within(2));
    // One of those who wait gives way.
    await waitFor(() => refused === 2);
    free();
    await held;
    const answer = await stranger.answer(60_000);
    await Promise.all(answers);
    for (const connection of [stranger, ...flood]) connection.destroy();

    expect(answer.status).toBe(200);
  });
});

describe('Large answers', () => {
  const api = useTestApi({ settings: { TRUST_PROXY: '1' }, imports: [LargeModule] });
  /** So many fill the share of a network, and what the system keeps for each of them on its way. */
  const CLIENTS = 12;
  const ASKED = 4;

  it.each(['text', 'sent', 'ended', 'written', 'stream'])(
    'that are left unread take of what all have, however they are sent: %s',
    async (way) => {
      const path = `/api/v1/large/${way}`;
      const ask = `GET ${path} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 192.0.2.1\r\n\r\n`.repeat(ASKED);
      const clients = await Promise.all(times(CLIENTS, () => RawConnection.open(api.app.port)));
      for (const client of clients) client.pause().write(ask);

      const from = async (address: string) =>
        (await api.get(`/large/${way}`, { 'X-Forwarded-For': address, 'Accept-Encoding': 'identity' })).status;
      await waitFor(async () => (await from('192.0.2.1')) === 503);
      expect(await from('192.0.2.2')).toBe(200);
      for (const client of clients) client.destroy();
      await waitFor(async () => (await from('192.0.2.1')) === 200);
    },
  );
});
