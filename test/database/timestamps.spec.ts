import fc from 'fast-check';
import pg from 'pg';
import { DataSource } from 'typeorm';
import { getTypeParser } from '../../src/platform/database/type-parsers';
import { useTestApi } from '../support/test-api';

const TIMESTAMPTZ_OID = 1184;

describe('A point in time', () => {
  const api = useTestApi();

  it.each([
    '2026-01-31 12:00:00+00',
    '2026-01-31 12:00:00.5+00',
    '2026-01-31 12:00:00.123456+00',
    '2024-02-29 23:59:59.9+00',
    '0001-01-01 00:00:00+00',
    '0099-12-31 23:59:59.999+00',
    '0100-01-01 00:00:00.000001+00',
    '9999-12-31 23:59:59.999+00',
    '12026-01-31 12:00:00.123456+00',
    '0044-03-15 12:00:00+00 BC',
    '2026-01-31 12:00:00+05:30',
    'infinity',
    '-infinity',
  ])('%s is read as the driver reads it', async (text) => {
    const database = api.app.nest.get(DataSource);
    const [{ value, asText }] = await database.query<{ value: unknown; asText: string }[]>(
      `SELECT $1::timestamptz AS value, $1::timestamptz::text AS "asText"`,
      [text],
    );

    expect(value).toEqual(pg.types.getTypeParser(TIMESTAMPTZ_OID, 'text')(asText));
  });

  it('is read as the driver reads it, with any number of decimals', () => {
    const time = fc.date({
      min: new Date('0001-01-01T00:00:00Z'),
      max: new Date('9999-12-31T23:59:59Z'),
      noInvalidDate: true,
    });
    const decimals = fc.stringMatching(/^(?:\.\d{0,5}[1-9])?$/);
    fc.assert(
      fc.property(time, decimals, (date, fraction) => {
        const text = `${date.toISOString().slice(0, 19).replace('T', ' ')}${fraction}+00`;
        const [own, drivers] = [getTypeParser, pg.types.getTypeParser].map((parserFor) => {
          return (parserFor as typeof getTypeParser)(TIMESTAMPTZ_OID, 'text')(text);
        });
        expect(own).toEqual(drivers);
      }),
    );
  });
});
