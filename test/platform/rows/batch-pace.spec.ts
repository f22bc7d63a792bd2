import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as turn } from 'node:timers/promises';
import { BatchPace } from '../../../src/platform/rows/batch-pace';
import { waitFor } from '../../../src/platform/testing';

/** Longer than any test. */
const FOR_EVER = 600_000;

describe('The pace of batches', () => {
  let begun: string[];
  let pace: BatchPace;
  const storage = new AsyncLocalStorage<string>();

  beforeEach(() => {
    begun = [];
    pace = new BatchPace(FOR_EVER);
  });

  const schedule = (name: string) => pace.schedule(() => void begun.push(storage.getStore() ?? name));
  const turns = async (count: number) => {
    for (let left = count; left > 0; left--) await turn();
  };

  /** A statement that runs until it is ended. */
  function statement(): { end: () => Promise<void> } {
    let answer: () => void;
    const ended = pace.run(() => new Promise<void>((resolve) => (answer = resolve)));
    return { end: () => (answer(), ended) };
  }

  it('begins the first batch after one more turn of the event loop', async () => {
    schedule('first');
    await turn();
    expect(begun).toEqual([]);
    await turns(2);
    expect(begun).toEqual(['first']);
  });

  it('begins a batch after the statement before it, however many turns that takes', async () => {
    const { end } = statement();
    schedule('next');
    await turns(50);
    expect(begun).toEqual([]);
    await end();
    await turns(3);
    expect(begun).toEqual(['next']);
  });

  it('begins a batch after a statement that has failed', async () => {
    const failed = pace.run(() => Promise.reject(new Error('no connection')));
    schedule('next');
    await expect(failed).rejects.toThrow('no connection');
    await turns(3);
    expect(begun).toEqual(['next']);
  });

  it('begins a batch beside a statement that takes long, and then lets the next one wait for its own', async () => {
    pace = new BatchPace(5);
    const held = statement();
    schedule('beside');
    await waitFor(() => begun.length === 1);
    pace = Object.assign(pace, { patience: FOR_EVER });
    const own = statement();
    schedule('next');
    await held.end();
    await turns(10);
    expect(begun).toEqual(['beside']);
    await own.end();
    await turns(3);
    expect(begun).toEqual(['beside', 'next']);
  });

  it('begins each batch in the context of its caller', async () => {
    const { end } = storage.run('of the statement', statement);
    storage.run('of the caller', () => schedule('next'));
    await storage.run('of somebody else', end);
    await turns(3);
    expect(begun).toEqual(['of the caller']);
  });
});
