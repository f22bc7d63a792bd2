import fc from 'fast-check';
import { Tally } from '../../../src/platform/limits/tally';

const steps = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.integer({ min: 1, max: 5 }), fc.boolean()));

describe('A tally', () => {
  it('counts nothing for a key that it has never seen', () => {
    expect(new Tally().of('a')).toBe(0);
  });

  it('has the sum of what was added, and forgets a key whose sum is zero', () => {
    fc.assert(
      fc.property(steps, (all) => {
        const tally = new Tally<string>();
        const sums: Record<string, number> = { a: 0, b: 0, c: 0 };
        for (const [key, count, adds] of all) {
          const more = adds ? count : -Math.min(count, sums[key]);
          tally.add(key, more);
          sums[key] += more;
          expect(tally.of(key)).toBe(sums[key]);
        }
        const { counts } = tally as unknown as { counts: Map<string, number> };
        expect(counts.size).toBe(Object.values(sums).filter((sum) => sum > 0).length);
      }),
    );
  });
});
