import pg from 'pg';
import { DataSource } from 'typeorm';
import { useTestApi } from '../support/test-api';

const TIMESTAMPTZ_OID = 1184;

describe('A point in time', () => {
  const api = useTestApi();

  it.each([
    '2026-01-31 12:00:00+00',
    '2026-01-31 12:00:00.5+00',
    '2026-01-31 12:00:00.123456+00',
    '0001-01-01 00:00:00+00',
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
});
