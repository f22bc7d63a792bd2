import { EventEmitter } from 'node:events';
import { ServiceUnavailableException } from '@nestjs/common';
import type { Response } from 'express';
import { leavePlace, makeInPlace, readInPlace } from '../../../src/platform/answers/page-place';
import { mebibytes } from '../../../src/platform/units';
import { times } from '../../../src/platform/testing';

/** So many answers may wait. */
const IN_QUEUE = 128;

describe('The place of large pages', () => {
  /** What was begun, in this order. */
  let begun: string[];
  /** What of it has to end for the place to be free. */
  let ends: Map<string, (error?: Error) => void>;
  let responses: Response[];

  const turn = () => new Promise((resolve) => setImmediate(resolve));

  beforeEach(() => {
    begun = [];
    ends = new Map();
    responses = [];
  });

  afterEach(async () => {
    for (const response of responses) close(response);
    for (const end of ends.values()) end();
    await turn();
  });

  function answer(ip = '192.0.2.1'): Response {
    const response = Object.assign(new EventEmitter(), { closed: false, req: { ip } });
    responses.push(response as unknown as Response);
    return responses.at(-1)!;
  }

  function close(response: EventEmitter): void {
    Object.assign(response, { closed: true }).emit('close');
  }

  /** Reads until the test ends it. */
  function read(response: Response, name: string, bytes = 0): Promise<string> {
    const reading = readInPlace(response, bytes, async () => {
      begun.push(name);
      await new Promise<void>((resolve, reject) => ends.set(name, (error) => (error ? reject(error) : resolve())));
      return name;
    });
    reading.catch(() => undefined);
    return reading;
  }

  async function end(name: string, error?: Error): Promise<void> {
    await turn();
    ends.get(name)!(error);
    await turn();
  }

  it('is kept from the reading of rows until the answer is made of them', async () => {
    const [first, second] = [answer(), answer()];
    const rows = read(first, 'first');
    void read(second, 'second');
    await end('first');
    expect(await rows).toBe('first');
    expect(begun).toEqual(['first']);

    await makeInPlace(first, async () => {
      await turn();
      expect(begun).toEqual(['first']);
    });
    await turn();
    expect(begun).toEqual(['first', 'second']);
  });

  it('is not asked for by answers of which nothing was read in it', async () => {
    void read(answer(), 'first');
    let isMade = false;
    await makeInPlace(answer(), () => Promise.resolve(void (isMade = true)));

    expect(isMade).toBe(true);
  });

  it.each([
    ['the statement fails', (_first: Response) => end('first', new Error('no'))],
    [
      'the answer is made otherwise',
      async (first: Response) => {
        await end('first');
        leavePlace(first);
      },
    ],
    [
      'the answer ends, as with an error',
      async (first: Response) => {
        await end('first');
        first.emit('prefinish');
      },
    ],
    [
      'making it fails',
      async (first: Response) => {
        await end('first');
        await makeInPlace(first, () => Promise.reject(new Error('no'))).catch(() => undefined);
      },
    ],
    [
      'the client goes when the rows have come',
      async (first: Response) => {
        await end('first');
        close(first);
      },
    ],
  ])('is left when %s', async (_case, leave) => {
    const first = answer();
    void read(first, 'first');
    void read(answer(), 'second');
    await turn();
    await leave(first);
    await turn();

    expect(begun).toEqual(['first', 'second']);
  });

  it('is kept while rows of a client come that has gone', async () => {
    const first = answer();
    void read(first, 'first');
    void read(answer(), 'second');
    await turn();
    close(first);
    await turn();
    expect(begun).toEqual(['first']);

    await end('first');
    expect(begun).toEqual(['first', 'second']);
  });

  it('is not waited for by clients that have gone', async () => {
    const [first, leaving, gone, last] = [answer(), answer(), answer(), answer()];
    void read(first, 'first');
    const left = read(leaving, 'leaving');
    void read(last, 'last');
    await turn();
    close(leaving);
    await expect(left).rejects.toThrow(ServiceUnavailableException);
    close(gone);
    await expect(read(gone, 'gone')).rejects.toThrow();
    await end('first');
    leavePlace(first);
    await turn();

    expect(begun).toEqual(['first', 'last']);
  });

  it('is one for all lists of an answer', async () => {
    const [first, second] = [answer(), answer()];
    void read(first, 'a');
    void read(first, 'b');
    void read(second, 'second');
    await turn();
    expect(begun).toEqual(['a', 'b']);

    await end('a', new Error('no'));
    expect(begun).toEqual(['a', 'b']);
    await end('b');
    void read(first, 'c');
    await end('c');
    expect(begun).toEqual(['a', 'b', 'c']);
    leavePlace(first);
    await turn();
    expect(begun).toEqual(['a', 'b', 'c', 'second']);
  });

  it('is left by a handler that goes on to other work', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'performance', 'nextTick', 'queueMicrotask'] });
    try {
      const first = answer();
      void read(first, 'first');
      void read(answer(), 'second');
      await turn();
      // As long as it takes to read them.
      jest.advanceTimersByTime(60_000);
      await turn();
      expect(begun).toEqual(['first']);

      await end('first');
      jest.advanceTimersByTime(60_000);
      await turn();
      expect(begun).toEqual(['first', 'second']);
    } finally {
      jest.useRealTimers();
    }
  });

  it('is had with memory for the rows, or left', async () => {
    const [first, second, third] = [answer('192.0.2.1'), answer('192.0.2.1'), answer('192.0.2.2')];
    void read(first, 'first', mebibytes(20));
    await end('first');
    leavePlace(first);
    // The answer lies unread.
    await expect(read(second, 'second', mebibytes(20))).rejects.toThrow('Too many large answers');
    void read(third, 'third', mebibytes(20));
    await turn();
    expect(begun).toEqual(['first', 'third']);
    await end('third', new Error('no'));
    close(first);

    void read(second, 'second', mebibytes(20));
    await turn();
    expect(begun).toEqual(['first', 'third', 'second']);
  });

  it('is waited for by so many, of whom the network with most loses one to others', async () => {
    const first = answer('203.0.113.1');
    void read(first, 'first');
    const crowd = times(IN_QUEUE, (index) => read(answer('192.0.2.1'), `crowd ${index}`));
    void read(answer('198.51.100.1'), 'stranger');
    await expect(crowd[IN_QUEUE - 1]).rejects.toThrow(ServiceUnavailableException);
    await expect(read(answer('192.0.2.1'), 'late')).rejects.toThrow(ServiceUnavailableException);
    await end('first');
    leavePlace(first);
    await turn();
    await end('crowd 0');
    leavePlace(responses[1]);
    await turn();

    expect(begun).toEqual(['first', 'crowd 0', 'stranger']);
  });
});
