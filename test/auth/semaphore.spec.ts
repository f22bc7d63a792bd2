import { ServiceUnavailableException } from '@nestjs/common';
import { Semaphore } from '../../src/auth/semaphore';
import { times } from '../support/test-api';

describe('A semaphore', () => {
  /** Work that ends when the test says so. */
  function works(semaphore: Semaphore) {
    const begun: number[] = [];
    const ends: (() => void)[] = [];
    const run = (index: number, signal?: AbortSignal) =>
      semaphore.run(async () => {
        begun.push(index);
        await new Promise<void>((resolve) => (ends[index] = resolve));
        return index;
      }, signal);
    return { begun, ends, run };
  }
  const turn = () => new Promise((resolve) => setImmediate(resolve));

  it('lets so many work at once, and the others in the order in which they came', async () => {
    const { begun, ends, run } = works(new Semaphore(2, 10));
    const all = times(5, (index) => run(index));
    await turn();
    expect(begun).toEqual([0, 1]);
    ends[1]();
    await turn();
    expect(begun).toEqual([0, 1, 2]);
    ends[0]();
    ends[2]();
    await turn();
    expect(begun).toEqual([0, 1, 2, 3, 4]);
    ends[3]();
    ends[4]();

    expect(await Promise.all(all)).toEqual([0, 1, 2, 3, 4]);
  });

  it('turns away whoever finds too many waiting, and nobody later', async () => {
    const { ends, run } = works(new Semaphore(1, 2));
    const all = times(3, (index) => run(index));
    await expect(run(3)).rejects.toThrow(ServiceUnavailableException);
    ends[0]();
    await turn();
    const last = run(4);
    for (const index of [1, 2, 4]) {
      await turn();
      ends[index]();
    }

    expect(await Promise.all([...all, last])).toEqual([0, 1, 2, 4]);
  });

  it('has who is not wanted any more leave the queue at once, and begins nothing for it', async () => {
    const { begun, ends, run } = works(new Semaphore(1, 2));
    const gone = new AbortController();
    const first = run(0);
    const leaving = run(1, gone.signal);
    const second = run(2);
    gone.abort();
    await expect(leaving).rejects.toThrow(ServiceUnavailableException);
    await expect(run(3, gone.signal)).rejects.toThrow(ServiceUnavailableException);
    const third = run(4);
    for (const index of [0, 2, 4]) {
      await turn();
      ends[index]();
    }

    expect(await Promise.all([first, second, third])).toEqual([0, 2, 4]);
    expect(begun).toEqual([0, 2, 4]);
  });

  it('gives its permit back after a failure, and a signal does not reach what has begun', async () => {
    const semaphore = new Semaphore(1, 0);
    const signal = new AbortController();
    await expect(semaphore.run(() => Promise.reject(new Error('a failure')))).rejects.toThrow('a failure');
    const running = semaphore.run(async () => {
      signal.abort();
      await turn();
      return 'done';
    }, signal.signal);

    expect(await running).toBe('done');
    expect(await semaphore.run(() => Promise.resolve('free'))).toBe('free');
  });
});
