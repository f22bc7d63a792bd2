import { KeyCounts } from '../../../src/platform/idempotency/key-counts';
import { times } from '../../../src/platform/testing';
import { minutes } from '../../../src/platform/units';

describe('KeyCounts', () => {
  beforeEach(() => jest.useFakeTimers({ now: 0 }));
  afterEach(() => jest.useRealTimers());

  const counted = (counts: KeyCounts, number: number) => times(number, () => counts.mustCount('a caller'));

  it('relies on a count for a 20th of the keys that are left', () => {
    const counts = new KeyCounts(100);

    expect(counts.mustCount('a caller')).toBe(true);
    expect(counts.allows('a caller', 39)).toBe(true);
    expect(counted(counts, 4)).toEqual([false, false, false, true]);
    expect(counts.mustCount('another caller')).toBe(true);
  });

  it('counts each claim when less than 20 are left, and refuses at the limit', () => {
    const counts = new KeyCounts(100);

    expect(counts.allows('a caller', 81)).toBe(true);
    expect(counted(counts, 2)).toEqual([true, true]);
    expect(counts.allows('a caller', 99)).toBe(true);
    expect(counts.allows('a caller', 100)).toBe(false);
    expect(counts.mustCount('a caller')).toBe(true);
  });

  it('relies on a count for a minute', () => {
    const counts = new KeyCounts(100);
    counts.allows('a caller', 0);

    jest.advanceTimersByTime(minutes(1));
    expect(counts.mustCount('a caller')).toBe(false);
    jest.advanceTimersByTime(1);
    expect(counts.mustCount('a caller')).toBe(true);
  });

  it('remembers 10,000 callers, of which the oldest makes room', () => {
    const counts = new KeyCounts(100);
    for (const caller of times(10_001, String)) counts.allows(caller, 0);

    expect(['0', '1', '10000'].map((caller) => counts.mustCount(caller))).toEqual([true, false, false]);
  });
});
