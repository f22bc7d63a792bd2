import fc from 'fast-check';
import { FairQueue, type QueueKeys } from '../../../src/platform/limits/fair-queue';

const KEYS = fc.tuple(fc.constantFrom('x', 'y', 'z'), fc.constantFrom('1', '2'));

function lineOf(waiting: QueueKeys[]): FairQueue<number> {
  const line = new FairQueue<number>();
  waiting.forEach((keys, index) => line.add(index, keys));
  return line;
}

function drained(line: FairQueue<number>): number[] {
  const order: number[] = [];
  for (let next = line.next(); next !== undefined; next = line.next()) order.push(next);
  return order;
}

describe('A fair line', () => {
  it('is in the order of arrival where all have one key', () => {
    expect(drained(lineOf([['x'], ['x'], ['x']]))).toEqual([0, 1, 2]);
  });

  it('gives each key its turn after the other', () => {
    expect(drained(lineOf([['x'], ['x'], ['x'], ['y'], ['z']]))).toEqual([0, 3, 4, 1, 2]);
  });

  it('gives each narrower key its turn within the wider one', () => {
    const keys = [
      ['x', '1'],
      ['x', '1'],
      ['x', '2'],
      ['y', '1'],
    ];
    expect(drained(lineOf(keys))).toEqual([0, 3, 2, 1]);
  });

  it('passes over a key that may not have its turn, which stays first', () => {
    const line = lineOf([['x'], ['y']]);
    expect(line.next(([key]) => key !== 'x')).toBe(1);
    expect(line.next(([key]) => key !== 'x')).toBeUndefined();
    expect(line.size).toBe(1);
    expect(line.next()).toBe(0);
  });

  it('passes over a narrower key that may not have its turn, and over a wider one without another', () => {
    const line = lineOf([
      ['x', '1'],
      ['y', '1'],
      ['y', '2'],
    ]);
    const may = ([, narrower]: QueueKeys) => narrower !== '1';
    expect(line.next(may)).toBe(2);
    expect(line.next(may)).toBeUndefined();
    expect(line.size).toBe(2);
    expect([line.next(), line.next()]).toEqual([0, 1]);
  });

  it('names the latest of the longest line where a newcomer would not make its own as long', () => {
    const line = lineOf([['x'], ['x'], ['x'], ['y']]);
    expect(line.latestOfLonger(['y'])).toBe(2);
    expect(line.latestOfLonger(['new'])).toBe(2);
    expect(lineOf([['x'], ['x'], ['y']]).latestOfLonger(['y'])).toBeUndefined();
    expect(lineOf([['x']]).latestOfLonger(['new'])).toBeUndefined();
  });

  it('names the latest of each key that has more than the newcomer has', () => {
    const line = lineOf([['x'], ['x'], ['y'], ['z'], ['z']]);
    expect([...line.latestOfOthers(['y'])]).toEqual([1, 4]);
    expect([...line.latestOfOthers(['new'])]).toEqual([1, 2, 4]);
  });

  it('loses nobody and takes nobody twice, whoever joins and leaves, and no key has two turns ahead of another', () => {
    fc.assert(
      fc.property(fc.array(KEYS, { maxLength: 30 }), fc.array(fc.nat(29)), (waiting, leaving) => {
        const line = lineOf(waiting);
        const gone = new Set(leaving.filter((index) => index < waiting.length));
        for (const index of gone) line.remove(index, waiting[index]);
        const left = waiting.map((_, index) => index).filter((index) => !gone.has(index));

        expect(line.size).toBe(left.length);
        const order = drained(line);
        expect([...order].sort((one, other) => one - other)).toEqual(left);
        expect(line.size).toBe(0);
        for (const [place, index] of order.entries()) {
          const [key] = waiting[index];
          const again = order.findIndex((other, later) => later > place && waiting[other][0] === key);
          if (again < 0) continue;
          const between = order.slice(place + 1, again).map((other) => waiting[other][0]);
          const others = new Set(order.slice(again).map((other) => waiting[other][0]));
          others.delete(key);
          for (const other of others) expect(between).toContain(other);
        }
      }),
    );
  });
});
