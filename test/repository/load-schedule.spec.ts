import { Schedule } from '../../scripts/load/schedule';
import { times } from '../../src/platform/testing';

describe('The schedule of a load', () => {
  it('has the same number of requests in each second, from the first on', () => {
    const schedule = new Schedule(40, 0);

    expect([0, 0.5, 1, 10].map((seconds) => schedule.dueWithin(seconds))).toEqual([0, 20, 40, 400]);
    expect([0, 19, 399].map((index) => schedule.timeOf(index))).toEqual([0.025, 0.5, 10]);
  });

  it('has more of them in each second while the rate rises, and then the same number', () => {
    const schedule = new Schedule(100, 4);
    const inEachSecond = times(7, (second) => schedule.dueWithin(second + 1) - schedule.dueWithin(second));

    expect(inEachSecond).toEqual([12, 38, 62, 88, 100, 100, 100]);
  });

  it.each([0, 0.5, 4])('knows when each of them is due, with a rise of %d seconds', (rise) => {
    const schedule = new Schedule(100, rise);

    for (let index = 0; index < 1_000; index++) {
      const due = schedule.timeOf(index);
      expect(schedule.dueWithin(due - 1e-6)).toBe(index);
      expect(schedule.dueWithin(due + 1e-6)).toBe(index + 1);
    }
  });
});
