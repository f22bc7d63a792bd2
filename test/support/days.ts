import { expectSuccess } from '../../src/platform/testing';
import { useSpecimens } from './specimens';

/** Days on which clocks change, there are none in some time zone, or a year, month or day begins elsewhere. */
const DAYS = ['0001-01-01', '1582-10-10', '1883-11-18', '2011-12-30', '2026-03-08', '2026-09-27', '9999-12-31'];

/** @param offset minutes that the time zone is ahead of UTC on 2026-01-31 */
export function itMovesNoDay(zone: string, offset: number): void {
  describe(`Days and moments in ${zone}`, () => {
    const api = useSpecimens();
    const create = async (attributes: object) =>
      expectSuccess(await api.post('/specimens', { name: 'A day', price: 1, ...attributes }), 201, 'Created') as {
        id: number;
      };

    it('is a time zone with an offset', () => {
      expect(new Date('2026-01-31T12:00:00Z').getTimezoneOffset()).toBe(-offset);
    });

    it.each(DAYS)('keep the day %s', async (found_on) => {
      const parts = [{ name: 'leg', lost_on: found_on }];
      const { id } = await create({ found_on, parts });

      expect((await api.get(`/specimens/${id}`)).body.data).toMatchObject({ found_on, parts });
      expect((await api.patch(`/specimens/${id}`, { found_on, level: 1 })).body.data).toMatchObject({ found_on });
      const { data } = (await api.get('/specimens?sort=found_on&size=100')).body;
      expect(data.find((one: { id: number }) => one.id === id)).toMatchObject({ found_on, parts });
    });

    it.each([
      ['2026-01-31T23:30:00+13:00', '2026-01-31T10:30:00.000Z'],
      ['2026-03-08T02:30:00-05:00', '2026-03-08T07:30:00.000Z'],
      ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
    ])('keep the moment %s', async (sent, seen_at) => {
      const { id } = await create({ seen_at: sent });

      expect((await api.get(`/specimens/${id}`)).body.data).toMatchObject({ seen_at });
      expect((await api.patch(`/specimens/${id}`, { seen_at: sent, level: 1 })).body.data).toMatchObject({ seen_at });
    });
  });
}
