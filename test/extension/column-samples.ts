import type { ColumnOptions, ColumnType } from 'typeorm';

/** A type of columns, and values of it. */
export interface Sample {
  type: ColumnType;
  options?: ColumnOptions;
  /** What is written, one after the other; all are other values. */
  values: unknown[];
  /** What is stored, as PostgreSQL writes it; left out where it is the value. */
  stored?: string[];
  /** What is read; left out where it is what was written. */
  read?: unknown[];
  /** PostgreSQL can't sort them. */
  unsortable?: true;
}

const noon = new Date('2026-02-28T12:00:00.123Z');
const night = new Date('2026-02-28T23:30:00.000Z');

const several = (types: ColumnType[], sample: Omit<Sample, 'type'>): Sample[] =>
  types.map((type) => ({ type, ...sample }));

export const SAMPLES: Sample[] = [
  ...several(['int2', 'smallint'], { values: [0, -32768, 32767] }),
  ...several(['int', 'int4', 'integer'], { values: [0, -5, 2147483647] }),
  // Past 2^53 a number would be another one.
  ...several(['int8', 'bigint'], { values: [0, 9007199254740991, '9007199254740993', '-9223372036854775808'] }),
  ...several(['numeric', 'decimal'], {
    options: { precision: 24, scale: 4 },
    values: [0, 19.25, '1234567890123456.8901', '-99999999999999999999.0001'],
    stored: ['0.0000', '19.2500', '1234567890123456.8901', '-99999999999999999999.0001'],
  }),
  ...several(['real', 'float4'], { values: [0, 0.1, -1.5e30], stored: ['0', '0.1', '-1.5e+30'] }),
  ...several(['float', 'float8', 'double precision'], { values: [0, 0.1, 5e-324], stored: ['0', '0.1', '5e-324'] }),
  { type: 'money', values: ['$1.50', '-$20.00'] },
  ...several(['character varying', 'varchar', 'text'], { values: ['', 'naïve "quoted" \\ {a,b}', 'null', 'NULL'] }),
  // The C collation has capitals before small letters; that of Unicode has them beside each other.
  ...['C', 'und-x-icu'].map((collation) => ({
    type: 'text' as const,
    options: { collation },
    values: ['b', 'B', 'a', 'Ä', 'ä', '', 'a b'],
  })),
  ...several(['character', 'char'], { options: { length: 4 }, values: ['abcd', 'a   '] }),
  { type: 'bytea', values: [Buffer.from([0, 255, 92]), Buffer.alloc(0)], stored: ['\\x00ff5c', '\\x'] },
  { type: 'bit', options: { length: 3 }, values: ['101', '000'] },
  ...several(['varbit', 'bit varying'], { values: ['1', '0101'] }),
  ...several(['timestamptz', 'timestamp with time zone'], { values: [noon, night] }),
  { type: 'timestamptz', options: { precision: 3 }, values: [noon, night] },
  ...several(['timestamp', 'timestamp without time zone'], { values: [noon, night] }),
  // A day is the same day wherever the process runs.
  { type: 'date', values: ['2026-02-28', '2026-03-29', '0044-03-15'] },
  ...several(['time', 'time without time zone'], { values: ['02:30:00', '23:59:59.5'] }),
  ...several(['timetz', 'time with time zone'], { values: ['02:30:00+02', '23:59:59-08'] }),
  {
    type: 'interval',
    values: ['1 year 2 mons', '3 days 04:05:06'],
    read: [
      { years: 1, months: 2 },
      { days: 3, hours: 4, minutes: 5, seconds: 6 },
    ],
  },
  ...several(['bool', 'boolean'], { values: [true, false] }),
  { type: 'enum', options: { enum: ['NEW', 'a "b", c', '10'] }, values: ['NEW', 'a "b", c', '10'] },
  { type: 'point', values: [{ x: 1, y: -2.5 }], stored: ['(1,-2.5)'], unsortable: true },
  { type: 'line', values: ['{1,2,3}'], unsortable: true },
  { type: 'lseg', values: ['[(1,2),(3,4)]'], unsortable: true },
  { type: 'box', values: ['(3,4),(1,2)'], unsortable: true },
  { type: 'path', values: ['((1,2),(3,4))'], unsortable: true },
  { type: 'polygon', values: ['((1,2),(3,4),(5,6))'], unsortable: true },
  { type: 'circle', values: [{ x: 1, y: 2, radius: 3 }], stored: ['<(1,2),3>'], unsortable: true },
  { type: 'cidr', values: ['10.1.0.0/16', '::/0'] },
  { type: 'inet', values: ['10.1.2.3', '::1'], stored: ['10.1.2.3/32', '::1/128'] },
  { type: 'macaddr', values: ['08:00:2b:01:02:03'] },
  { type: 'macaddr8', values: ['08:00:2b:01:02:03:04:05'] },
  { type: 'tsvector', values: ["'cat':3 'fat':2", ''] },
  { type: 'tsquery', values: ["'fat' & 'rat'"] },
  { type: 'uuid', values: ['a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'ffffffff-ffff-4fff-bfff-ffffffffffff'] },
  { type: 'xml', values: ['<a>b</a>'], unsortable: true },
  // A list is JSON, not PostgreSQL's array; an empty one, a text and a number too.
  ...several(['json', 'jsonb'], {
    values: [[], [{ a: 1 }, 'b', null], {}, { a: { b: [1, 2] } }, 'text', 5, true, '2026-01-31T12:00:00.000Z'],
    stored: [
      '[]',
      '[{"a":1},"b",null]',
      '{}',
      '{"a":{"b":[1,2]}}',
      '"text"',
      '5',
      'true',
      '"2026-01-31T12:00:00.000Z"',
    ],
    unsortable: true,
  }),
  { type: 'jsonpath', values: ['$."a"'], unsortable: true },
  { type: 'int4range', values: ['[1,5)', 'empty'] },
  { type: 'int8range', values: ['[1,9007199254740993)'] },
  { type: 'numrange', values: ['(1.5,2.5]'] },
  { type: 'tsrange', values: ['["2026-01-01 00:00:00","2026-01-02 00:00:00")'] },
  { type: 'tstzrange', values: ['empty'] },
  { type: 'daterange', values: ['[2026-01-01,2026-01-05)'] },
  { type: 'int4multirange', values: ['{[1,3),[5,7)}'] },
  { type: 'int8multirange', values: ['{[1,9007199254740993)}'] },
  { type: 'nummultirange', values: ['{[1.5,2.5)}'] },
  { type: 'tsmultirange', values: ['{["2026-01-01 00:00:00","2026-01-02 00:00:00")}'] },
  { type: 'tstzmultirange', values: ['{}'] },
  { type: 'datemultirange', values: ['{[2026-01-01,2026-01-05)}'] },
  // Types of TypeORM's own.
  { type: 'simple-array', values: [['x', 'y'], [], ['']], stored: ['x,y', '', ''], read: [['x', 'y'], [], []] },
  { type: 'simple-json', values: [[], { a: [1] }, 'text'], stored: ['[]', '{"a":[1]}', '"text"'] },
  { type: 'simple-enum', options: { enum: ['NEW', 'OLD'] }, values: ['NEW', 'OLD'] },
];

/** Lists of PostgreSQL's own, `array: true`. */
export const LISTS: Sample[] = [
  ...several(['text', 'varchar'], { values: [[], ['a,b', '"', '\\', 'NULL', '']] }),
  { type: 'integer', values: [[], [1, -2]] },
  { type: 'bigint', values: [[], [1, '9007199254740993']] },
  { type: 'numeric', values: [[], [1.5, '1234567890123456.8901']] },
  { type: 'double precision', values: [[0.1, 5e-324]] },
  { type: 'boolean', values: [[true, false]] },
  { type: 'uuid', values: [['a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11']] },
  { type: 'date', values: [['2026-02-28']] },
  { type: 'timestamptz', values: [[noon, night]] },
  { type: 'bytea', values: [[Buffer.from([0, 255])]] },
  { type: 'enum', options: { enum: ['NEW', 'OLD'] }, values: [[], ['NEW', 'OLD']] },
].map((sample) => ({
  ...sample,
  type: sample.type as ColumnType,
  options: { ...(sample as Sample).options, array: true },
}));
