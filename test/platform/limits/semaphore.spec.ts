import { ServiceUnavailableException } from '@nestjs/common';
import type { QueueKeys } from '../../../src/platform/limits/fair-queue';
import { Semaphore } from '../../../src/platform/limits/semaphore';
import { times } from '../../../src/platform/testing';

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

  describe('of several keys', () => {
    it('has a narrowest key that holds its share wait, and others of its widest key begin past it', () => {
      const semaphore = new Semaphore(4, 10, (working, _free, narrowest) => working < 3 && narrowest < 2);
      const taken = (...keys: string[]) => semaphore.take(keys);

      expect([taken('x', '1'), taken('x', '1'), taken('x', '1')]).toEqual([true, true, false]);
      expect([taken('y', '1'), taken('x', '2'), taken('x', '3')]).toEqual([false, true, false]);
      semaphore.release(['x', '1']);
      expect([taken('y', '1'), taken('x', '3')]).toEqual([true, true]);
    });

    it('has a key that holds its share wait, and others begin past it', async () => {
      const semaphore = new Semaphore(4, 10, (working, free) => working < free);
      const begun: string[] = [];
      const ends: (() => void)[] = [];
      const run = (key: string) =>
        semaphore.run(
          () => {
            begun.push(key);
            return new Promise<void>((resolve) => void ends.push(resolve));
          },
          undefined,
          [key],
        );
      const all = ['a', 'a', 'a', 'a', 'b', 'b', 'c', 'c'].map(run);
      await turn();
      expect(begun).toEqual(['a', 'a', 'b', 'c']);
      ends[3]();
      await turn();
      expect(begun).toEqual(['a', 'a', 'b', 'c', 'c']);
      while (begun.length < all.length || ends.length > 0) {
        ends.splice(0).forEach((end) => end());
        await turn();
      }

      await Promise.all(all);
      expect(begun.slice(5).sort()).toEqual(['a', 'a', 'b']);
    });

    /** Work of many keys, one after the other, that notes in which order it was done. */
    function line(maxWaiting: number) {
      const semaphore = new Semaphore(1, maxWaiting);
      const done: string[] = [];
      let free = () => undefined as void;
      const held = semaphore.run(() => new Promise<void>((resolve) => (free = resolve)), undefined, ['first']);
      const run = (name: string, signal?: AbortSignal, keys: QueueKeys = [name[0]]) => {
        const work = () => Promise.resolve(void done.push(name));
        return semaphore.run(work, signal, keys).then(
          () => 'done',
          () => 'refused',
        );
      };
      const finish = async () => {
        free();
        await held;
      };
      return { done, run, finish };
    }

    it('gives each key its turn, however many of another wait', async () => {
      const { done, run, finish } = line(20);
      const all = [...times(10, (index) => run(`a${index}`)), run('b0'), run('b1'), run('c0')];
      await finish();
      await Promise.all(all);

      expect(done.slice(0, 6)).toEqual(['a0', 'b0', 'c0', 'a1', 'b1', 'a2']);
      expect(done).toHaveLength(13);
    });

    it('when it is full, turns away the latest of whoever holds most places for a newcomer', async () => {
      const { done, run, finish } = line(6);
      const greedy = times(6, (index) => run(`a${index}`));
      const newcomers = times(3, (index) => run(`b${index}`));
      expect(await run('a6')).toBe('refused');
      // With as many for each of two, the next would only change who waits.
      expect(await run('b3')).toBe('refused');
      const stranger = run('c0');
      await finish();

      // Two hold as many, and the first to come gives way.
      expect(await Promise.all(greedy)).toEqual(['done', 'done', ...times(4, () => 'refused')]);
      expect(await Promise.all(newcomers)).toEqual(['done', 'done', 'done']);
      expect(await stranger).toBe('done');
      expect(done).toEqual(['a0', 'b0', 'c0', 'a1', 'b1', 'b2']);
    });

    it('turns the newcomer away when everybody holds one place', async () => {
      const { done, run, finish } = line(3);
      const waiting = ['a', 'b', 'c'].map((name) => run(name));
      expect(await run('d')).toBe('refused');
      await finish();

      expect(await Promise.all(waiting)).toEqual(['done', 'done', 'done']);
      expect(done).toEqual(['a', 'b', 'c']);
    });

    it('counts nobody who has left', async () => {
      const { done, run, finish } = line(4);
      const gone = new AbortController();
      const leaving = times(3, (index) => run(`a${index}`, gone.signal));
      const staying = run('b0');
      gone.abort();
      expect(await Promise.all(leaving)).toEqual(['refused', 'refused', 'refused']);
      const next = times(3, (index) => run(`b${index + 1}`));
      expect(await run('b4')).toBe('refused');
      await finish();

      expect(await Promise.all([staying, ...next])).toEqual(times(4, () => 'done'));
      expect(done).toEqual(['b0', 'b1', 'b2', 'b3']);
    });

    it('gives each narrower key its turn within the turns of a wider one', async () => {
      const { done, run, finish } = line(20);
      const keys: QueueKeys[] = [...times(4, () => ['a', 1]), ['a', 2], ['b', 1]];
      const all = keys.map((key, index) => run(`${key.join('')} ${index}`, undefined, key));
      await finish();
      await Promise.all(all);

      expect(done).toEqual(['a1 0', 'b1 5', 'a2 4', 'a1 1', 'a1 2', 'a1 3']);
    });

    it('when one wider key fills it, leaves its other narrower keys a place', async () => {
      const { run, finish } = line(3);
      const greedy = times(3, (index) => run(`a${index}`, undefined, ['a', 1]));
      const neighbour = run('neighbour', undefined, ['a', 2]);
      await finish();

      expect(await neighbour).toBe('done');
      expect(await Promise.all(greedy)).toEqual(['done', 'done', 'refused']);
    });
  });

  describe('that many networks fill with one place each', () => {
    const PLACES = 4;
    const turnsOf = (semaphore: Semaphore) => {
      let free = () => undefined as void;
      const hold = () => semaphore.run(() => new Promise<void>((resolve) => (free = resolve)), undefined, ['first']);
      const run = (network: string) =>
        semaphore
          .run(() => Promise.resolve(), undefined, [network])
          .then(
            () => 'done',
            () => 'refused',
          );
      return { hold, run, free: () => free() };
    };

    it.each([
      ['10.1.%', '10.2.1'],
      ['2001:db8:%::/48', '2001:db9:1::/48'],
    ])('leaves a place to another region, where all are of one: %s', async (networks, elsewhere) => {
      const { hold, run, free } = turnsOf(new Semaphore(1, PLACES));
      const held = hold();
      const crowd = times(PLACES, (index) => run(networks.replace('%', String(index + 1))));
      expect(await run(networks.replace('%', '99'))).toBe('refused');
      const stranger = run(elsewhere);
      free();
      await held;

      expect(await stranger).toBe('done');
      expect(countOf('refused', await Promise.all(crowd))).toBe(1);
    });

    it('leaves a place to a network that had no turn of late, where all others had, and come again', async () => {
      const { hold, run, free } = turnsOf(new Semaphore(1, PLACES));
      const crowd = () => times(PLACES, (index) => run(`10.${index}.1`));
      for (const waiting of [hold(), ...crowd()]) {
        free();
        await waiting;
      }
      const held = hold();
      const again = crowd();
      const strangers = ['10.50.1', '10.51.1'].map((network) => run(network));
      // It had a turn, and would have as much as the strangers.
      expect(await run('10.0.1')).toBe('refused');
      free();
      await held;

      expect(await Promise.all(strangers)).toEqual(['done', 'done']);
      expect(countOf('refused', await Promise.all(again))).toBe(2);
    });
  });
});

const countOf = (value: string, all: string[]) => all.filter((one) => one === value).length;
