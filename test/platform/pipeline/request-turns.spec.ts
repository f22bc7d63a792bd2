import { EventEmitter } from 'node:events';
import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import type { Request, Response } from 'express';
import { type PoolInUse, RequestTurns } from '../../../src/platform/pipeline/request-turns';
import { times, waitFor } from '../../../src/platform/testing';

const CROWD = '192.0.2.1';
const STRANGER = '198.51.100.7';
function busyFor(milliseconds: number): void {
  for (const end = performance.now() + milliseconds; performance.now() < end;);
}

/** More than begin in one turn of the event loop. */
const MANY = 1_000;

class FakePool extends EventEmitter implements PoolInUse {
  waitingCount = 0;
  options = { max: 10 };
}

class FakeResponse extends EventEmitter {
  headersSent = false;
}

describe('Requests that come faster than they can be begun', () => {
  let pool: FakePool;
  let turns: RequestTurns;
  /** Who has begun, in this order. */
  let begun: string[];
  let refused: string[];
  /** What a request does when it begins. */
  let work: () => void;

  const send = (ip: string, request: Partial<Request> = {}): FakeResponse => {
    const response = new FakeResponse();
    // Those of an earlier test may still wait.
    const lists = { begun, refused };
    const next = (error?: unknown) => {
      (error ? lists.refused : lists.begun).push(ip);
      if (!error) work();
    };
    turns.take(
      { method: 'GET', url: '/api/v1/products', ip, ...request } as Request,
      response as unknown as Response,
      next,
    );
    return response;
  };

  beforeEach(() => {
    pool = new FakePool();
    turns = new RequestTurns(pool, MANY);
    begun = [];
    refused = [];
    work = () => undefined;
  });

  it('begin at once, as long as they are few', () => {
    times(50, () => send(CROWD));

    expect(begun).toHaveLength(50);
  });

  it('let a stranger pass in one of the next turns of the event loop, and all begin', async () => {
    times(MANY, () => send(CROWD));
    expect(begun.length).toBeLessThan(MANY / 2);
    send(STRANGER);
    await turnOfTheLoop();
    await turnOfTheLoop();

    expect(begun).toContain(STRANGER);
    expect(begun.length).toBeLessThan(MANY);
    await waitFor(() => begun.length === MANY + 1);
  });

  it('wait while statements wait for a connection, where others pass them', async () => {
    pool.waitingCount = 20;
    pool.emit('release');
    times(50, () => send(CROWD));
    send(STRANGER);
    expect(begun).toEqual([]);

    pool.waitingCount = 18;
    pool.emit('release');
    await turnOfTheLoop();
    expect(begun).toEqual([CROWD, STRANGER]);
  });

  it('begin when no connection is given back any more', async () => {
    pool.waitingCount = 1_000;
    pool.emit('release');
    times(50, () => send(CROWD));

    await waitFor(() => begun.length === 50);
  });

  it('leave the line with their clients', async () => {
    pool.waitingCount = 20;
    pool.emit('release');
    const [first] = times(2, () => send(CROWD));
    first.emit('close');
    pool.waitingCount = 0;
    pool.emit('release');
    await turnOfTheLoop();

    expect(begun).toEqual([CROWD]);
  });

  it('leave a stranger a place, when too many wait', () => {
    pool.waitingCount = 20;
    pool.emit('release');
    times(MANY, () => send(CROWD));
    send(STRANGER);
    send(CROWD);

    expect(refused).toEqual([CROWD, CROWD]);
  });

  it.each([
    ['writes', { method: 'POST' }],
    ['paths outside of the API', { url: '/' }],
    ['probes of an orchestrator', { url: '/health/live' }],
    ['preflight requests', { method: 'OPTIONS' }],
  ])('wait, whether they are reads or %s', (_what, request) => {
    pool.waitingCount = 20;
    pool.emit('release');
    send(STRANGER, request);

    expect(begun).toEqual([]);
  });

  it('are the fewer in a turn of the event loop, the more each costs', async () => {
    work = () => busyFor(2);
    times(100, () => send(CROWD));
    expect(begun.length).toBeLessThan(30);
    send(STRANGER);
    await turnOfTheLoop();
    await turnOfTheLoop();

    expect(begun).toContain(STRANGER);
    expect(begun.length).toBeLessThan(80);
    await waitFor(() => begun.length === 101);
  });

  it('are as many as before, when they cost little again', async () => {
    work = () => busyFor(2);
    times(20, () => send(CROWD));
    let sent = 20;
    await turnOfTheLoop();
    work = () => undefined;

    await waitFor(async () => {
      await waitFor(() => begun.length === sent);
      times(90, () => send(CROWD));
      sent += 90;
      return begun.length === sent;
    });
  });

  it('are answered with the error of what they begin', async () => {
    turns.accepted();
    work = () => {
      throw new Error('a fault of a middleware');
    };
    send(CROWD);
    await waitFor(() => refused.length === 1);

    expect([begun, refused]).toEqual([[CROWD], [CROWD]]);
  });

  it('wait for further new connections, but not for ever', async () => {
    times(30, () => send(CROWD));
    await turnOfTheLoop();
    times(30, () => send(CROWD));
    turns.accepted();
    send(STRANGER);
    for (let turn = 0; turn < 5; turn++) {
      await turnOfTheLoop();
      turns.accepted();
    }
    expect(begun).not.toContain(STRANGER);

    await waitFor(() => {
      turns.accepted();
      return begun.includes(STRANGER);
    });
  });

  it('wait for a turn without a new connection', async () => {
    turns.accepted();
    send(STRANGER);
    expect(begun).toEqual([]);
    await turnOfTheLoop();
    await turnOfTheLoop();

    expect(begun).toEqual([STRANGER]);
  });

  describe('and whose bodies come later', () => {
    const begin = async (ip: string): Promise<[Request, FakeResponse]> => {
      const response = new FakeResponse();
      const request = { method: 'POST', url: '/api/v1/users', ip, res: response } as unknown as Request;
      await new Promise((resolve) => turns.take(request, response as unknown as Response, resolve));
      return [request, response];
    };

    it('go on at once in the turn in which they have begun, and while there is room', async () => {
      const [request] = await begin(CROWD);
      expect(turns.again(request)).toBeUndefined();
      await turnOfTheLoop();
      await turnOfTheLoop();

      expect(turns.again(request)).toBeUndefined();
    });

    it('wait for another turn otherwise, where a stranger passes them', async () => {
      const crowd = await Promise.all(times(200, () => begin(CROWD)));
      const [stranger] = await begin(STRANGER);
      await turnOfTheLoop();
      const order: string[] = [];
      const goOn = async (request: Request) => {
        await turns.again(request);
        order.push(request.ip!);
      };
      await Promise.all([...crowd.map(([request]) => goOn(request)), goOn(stranger)]);

      expect(order).toHaveLength(201);
      expect(order.indexOf(STRANGER)).toBeLessThan(150);
    });

    it('end when their clients go', async () => {
      const [request, response] = await begin(CROWD);
      await turnOfTheLoop();
      pool.waitingCount = 30;
      pool.emit('release');
      const turn = turns.again(request);
      response.emit('close');

      await expect(turn).rejects.toThrow('Too many requests wait already');
    });
  });
});
