import { EventEmitter } from 'node:events';
import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import type { Request, Response } from 'express';
import { type PoolInUse, RequestTurns } from '../../../src/platform/pipeline/request-turns';
import { times, waitFor } from '../../../src/platform/testing';

const CROWD = '192.0.2.1';
const STRANGER = '198.51.100.7';
/** More than begin in one turn of the event loop. */
const MANY = 1_000;

class FakePool extends EventEmitter implements PoolInUse {
  waitingCount = 0;
  options = { max: 10 };
}

class FakeResponse extends EventEmitter {
  headersSent = false;
}

describe('Reads that come faster than they can be begun', () => {
  let pool: FakePool;
  let turns: RequestTurns;
  /** Who has begun, in this order. */
  let begun: string[];
  let refused: string[];

  const send = (ip: string, request: Partial<Request> = {}): FakeResponse => {
    const response = new FakeResponse();
    // Those of an earlier test may still wait.
    const lists = { begun, refused };
    const next = (error?: unknown) => void (error ? lists.refused : lists.begun).push(ip);
    turns.take({ method: 'GET', version: 1, ip, ...request } as Request, response as unknown as Response, next);
    return response;
  };

  beforeEach(() => {
    pool = new FakePool();
    turns = new RequestTurns(pool, MANY);
    begun = [];
    refused = [];
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
    ['a write', { method: 'POST' }],
    ['outside of the API', { version: undefined }],
  ])('keep no request waiting that is %s', (_what, request) => {
    pool.waitingCount = 20;
    pool.emit('release');
    send(STRANGER, request);

    expect(begun).toEqual([STRANGER]);
  });
});
