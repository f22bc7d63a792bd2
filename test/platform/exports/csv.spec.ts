import { csv } from '../../../src/platform/exports/csv';
import { fieldsOf } from '../../support/csv';

const lineOf = (...values: unknown[]) => {
  const attributes = values.map((_, index) => `a${index}`);
  return csv.line(Object.fromEntries(values.map((value, index) => [`a${index}`, value])), attributes);
};

describe('A line of CSV', () => {
  it('ends with CRLF, as the header does', () => {
    expect(csv.head(['id', 'name'])).toBe('id,name\r\n');
    expect(lineOf(1, 'pear')).toBe('1,pear\r\n');
  });

  it.each([
    ['a comma', 'a,b', '"a,b"\r\n'],
    ['quotes', 'a "b"', '"a ""b"""\r\n'],
    ['a line feed', 'a\nb', '"a\nb"\r\n'],
    ['a carriage return within', 'a\rb', '"a\rb"\r\n'],
    ['blanks around', ' a ', ' a \r\n'],
    ['letters beyond ASCII', 'crème 漢', 'crème 漢\r\n'],
  ])('has a text with %s', (_what, text, line) => {
    expect(lineOf(text)).toBe(line);
    expect(fieldsOf(lineOf(text))).toEqual([[text]]);
  });

  it.each([
    '00123',
    '12345678901234567890',
    '-9007199254740993',
    '1e5',
    '3.10',
    '.5',
    '1/2',
    '2026-01-02',
    '12:30',
    'TRUE',
    'false',
  ])('quotes a text that looks like another value: %s', (text) => {
    expect(lineOf(text)).toBe(`"${text}"\r\n`);
  });

  it.each(['a1', '1 pear', 'e5', '2026-01-02T00:00:00.000Z'])(
    'leaves a text without quotes that does not: %s',
    (text) => {
      expect(lineOf(text)).toBe(`${text}\r\n`);
    },
  );

  it.each([
    [null, ''],
    [undefined, ''],
    ['', '""'],
    [0, '0'],
    [-12.5, '-12.5'],
    [true, 'true'],
    [false, 'false'],
    [new Date(0), '1970-01-01T00:00:00.000Z'],
    [['USER', 'ADMIN'], '"[""USER"",""ADMIN""]"'],
    [[], '"[]"'],
    [{ a: '<b>' }, '"{""a"":""\\u003cb\\u003e""}"'],
  ])('has the value %j', (value, field) => {
    expect(lineOf(1, value)).toBe(`1,${field}\r\n`);
  });

  it.each(['=1+1', '+1', '-1+1', '@SUM(A1)', '\t1', '\r1', '\n1', '＝1', '＋1', '－1', '＠a', '-', '--1', '-1e5|x'])(
    'has no formula: %j',
    (text) => {
      expect(fieldsOf(lineOf(text, 1))).toEqual([[`'${text}`, '1']]);
    },
  );

  it.each([
    ['x;=1+1', "x;'=1+1"],
    ['x\n=1', "x\n'=1"],
    ['x\t@a;-b', "x\t'@a;'-b"],
    ['\n=1', "'\n'=1"],
    ['=1;=2', "'=1;'=2"],
  ])('has no formula behind what separates fields elsewhere: %j', (text, safe) => {
    expect(fieldsOf(lineOf(text, 1))).toEqual([[safe, '1']]);
  });

  it.each(['-9007199254740993', '-0.5', "'=1", 'a=1', ' =1'])(
    'leaves a text that is no formula as it is: %j',
    (text) => {
      expect(fieldsOf(lineOf(text))).toEqual([[text]]);
    },
  );

  it('has what an object says of itself', () => {
    class Shown {
      private readonly secret = 1;
      toJSON() {
        return { a0: this.secret + 1 };
      }
    }
    expect(csv.line(new Shown(), ['a0', 'secret'])).toBe('2,\r\n');
  });
});
