import fc from 'fast-check';
import { SlotPool } from '../../../src/platform/limits/slot-pool';

describe('A pool of slots', () => {
  it('holds what was taken and not cleared, in no more slots than were ever held at once', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean()), (steps) => {
        const pool = new SlotPool<object>();
        const held = new Map<number, object>();
        let most = 0;
        for (const takes of steps) {
          const [oldest] = held.keys();
          if (takes) {
            const object = {};
            const slot = pool.take(object);
            expect(held.has(slot)).toBe(false);
            held.set(slot, object);
          } else if (oldest !== undefined) {
            pool.clear(oldest);
            held.delete(oldest);
          }
          most = Math.max(most, held.size);
          expect(new Set(pool)).toEqual(new Set(held.values()));
          expect([...held.keys()].every((slot) => slot < most)).toBe(true);
        }
      }),
    );
  });
});
