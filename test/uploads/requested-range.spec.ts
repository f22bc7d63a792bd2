import { rangeOf } from '../../src/uploads/requested-range';

const TAG = '"tag"';
const range = (text: string | undefined, size = 10, headers: object = {}, method = 'GET') =>
  rangeOf({ method, headers: { range: text, ...headers } }, size, TAG);

describe('The requested range of ten bytes', () => {
  it.each([
    ['bytes=0-0', { start: 0, end: 0 }],
    ['bytes=0-', { start: 0, end: 9 }],
    ['bytes=9-', { start: 9, end: 9 }],
    ['bytes=3-5', { start: 3, end: 5 }],
    ['bytes=3-5000', { start: 3, end: 9 }],
    ['bytes=-1', { start: 9, end: 9 }],
    ['bytes=-10', { start: 0, end: 9 }],
    ['bytes=-11', { start: 0, end: 9 }],
    [`bytes=-${'9'.repeat(400)}`, { start: 0, end: 9 }],
    ['bytes= 1-2 ', { start: 1, end: 2 }],
  ])('by %s is %j', (text, expected) => {
    expect(range(text)).toMatchObject(expected);
  });

  it.each([
    undefined,
    '',
    'bytes',
    'bytes=',
    'bytes=a-b',
    'bytes=0-1,3-4',
    'lines=0-1',
    `bytes=0-${'1'.repeat(1_100)}`,
  ])('by %s is the whole', (text) => {
    expect(range(text)).toBeUndefined();
  });

  it.each(['bytes=5-3', 'bytes=10-', 'bytes=10-11', 'bytes=-0'])('by %s is refused', (text) => {
    expect(() => range(text)).toThrow(expect.objectContaining({ code: 'RANGE_NOT_SATISFIABLE' }) as Error);
  });

  it('counts with the tag of the content only, and for GET only', () => {
    expect(range('bytes=0-0', 10, { 'if-range': TAG })).toMatchObject({ start: 0, end: 0 });
    expect(range('bytes=0-0', 10, { 'if-range': '"other"' })).toBeUndefined();
    expect(range('bytes=0-0', 10, {}, 'HEAD')).toBeUndefined();
  });

  it('of nothing is refused', () => {
    expect(() => range('bytes=0-0', 0)).toThrow();
  });
});
