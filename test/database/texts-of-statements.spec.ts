import fc from 'fast-check';
import { Client, type QueryResult } from 'pg';
import { isCommit, isControl, mayWrite } from '../../src/platform/transactions/statement-kinds';
import { statementsOf } from '../../src/platform/transactions/statements-of';
import { useTestApi } from '../support/test-api';

/** What may stand between words. */
const SPACES = [
  ' ',
  '\n',
  ' -- a; b\n',
  ' --\n',
  '/* ; */',
  '/* /* ; */ ; */',
  '/*/**/*/',
  "/* ' */",
  '/* $$ */',
  '/* -- */',
];
/** Values with and without a semicolon in them. */
const VALUES = [
  '1',
  "';'",
  "'it''s; '",
  "'\\'",
  "E'\\';'",
  "E'\\\\'",
  "e';'';'",
  "U&'\\0041;'",
  "B'1'",
  '$$;$$',
  '$t$;$$;$t$',
  "$ü$ ' ; $ü$",
  "'/*'",
  "'--'",
  "';' AS a$b$",
  '1 AS "a;b"',
  '1 AS "a""b;"',
  '1 AS é$é$',
];

const space = fc.constantFrom(...SPACES);
const statement = fc
  .tuple(space, space, fc.array(fc.tuple(space, fc.constantFrom(...VALUES), space), { minLength: 1, maxLength: 4 }))
  .map(([before, after, values]) => `${before}SELECT${after}${values.map((value) => value.join('')).join(',')}`);
const ends = fc.constantFrom(';', ' ; ', ';;', '; /* ; */ ;', ';--\n');

describe('A text of several statements', () => {
  const api = useTestApi();

  it('is split as PostgreSQL does', async () => {
    const client = new Client(api.app.databaseUrl);
    await client.connect();
    const texts = fc.tuple(fc.array(fc.tuple(statement, ends), { minLength: 1, maxLength: 4 }), statement);
    try {
      await fc.assert(
        fc.asyncProperty(texts, async ([first, last]) => {
          const text = [...first.map((parts) => parts.join('')), last].join('');
          const results = [(await client.query(text)) as QueryResult | QueryResult[]].flat();
          expect([text, statementsOf(text).length]).toEqual([text, results.length]);
        }),
        { numRuns: 300 },
      );
    } finally {
      await client.end();
    }
  });

  it.each(SPACES)('is recognised behind %j', (between) => {
    expect(isCommit(`${between}COMMIT`)).toBe(true);
    expect(isControl(`SELECT 1;${between}COMMIT`)).toBe(true);
    expect(isCommit(`SELECT 1;${between}COMMIT`)).toBe(true);
    expect(isControl(`${between}BEGIN`)).toBe(true);
    expect(mayWrite(`SELECT 1;${between}TRUNCATE shelves`)).toBe(true);
    expect(mayWrite(`${between}SELECT 1;${between}SHOW timezone`)).toBe(false);
    expect(isControl(`SELECT 'a${between}'`)).toBe(false);
  });
});
