import fc from 'fast-check';
import { Moment } from '../../../src/platform/text/moment';

const DAY = 86_400_000;
const LAST = 8_640_000_000_000_000;

describe('The moment of a row', () => {
  it.each([0, -1, 1, DAY - 1, DAY, -DAY, -62_198_755_200_000, 253_402_300_800_000, LAST, -LAST, NaN])(
    'has the JSON of a Date at %d',
    (time) => {
      expect(JSON.stringify(new Moment(time))).toBe(JSON.stringify(new Date(time)));
    },
  );

  it('has the JSON of a Date at any time', () => {
    fc.assert(
      fc.property(fc.date({ noInvalidDate: true }), (date) => {
        expect(new Moment(date).toJSON()).toBe(date.toISOString());
      }),
    );
  });

  it('has the JSON of a Date on more days than it remembers', () => {
    const dates = Array.from({ length: 10_000 }, (_, day) => new Date(day * DAY + day));
    expect(JSON.stringify(dates.map((date) => new Moment(date)))).toBe(JSON.stringify(dates));
  });

  it('is a Date that can be changed', () => {
    const moment = new Moment('2026-01-31T12:00:00.000Z');
    moment.setUTCFullYear(2027);
    expect(moment).toBeInstanceOf(Date);
    expect(moment.toJSON()).toBe('2027-01-31T12:00:00.000Z');
    expect(structuredClone(moment)).toEqual(new Date('2027-01-31T12:00:00.000Z'));
  });

  it.each(['toJSON', 'toISOString'] as const)('keeps to a replaced %s of all dates', (name) => {
    const replaced = jest.spyOn(Date.prototype, name).mockReturnValue('a date');
    try {
      expect(JSON.stringify([new Moment(0)])).toBe('["a date"]');
    } finally {
      replaced.mockRestore();
    }
  });
});
