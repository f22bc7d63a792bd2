import fc from 'fast-check';
import { compose, hasTooManyMarks, isTooLong, MAX_MARKS } from '../../../src/platform/text/composed-text';
import { isEmailAddress } from '../../../src/platform/text/email-address';
import { hasLength, lengthMessage, normalise, textPattern, wholePattern } from '../../../src/platform/text/text';

const TEXT = fc.string({ unit: 'binary', maxLength: 40 });

describe('A composed text', () => {
  it('is the same for all spellings of it, and composing it once more changes nothing', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 20 }), (text) => {
        const composed = compose(text, 1_000);
        expect(compose(text.normalize('NFD'), 1_000)).toBe(composed);
        if (composed !== undefined) expect(compose(composed, 1_000)).toBe(composed);
      }),
    );
  });

  it('is none where composing would take long', () => {
    const marks = (count: number) => `a${'\u0301'.repeat(count)}`;
    expect(hasTooManyMarks(marks(MAX_MARKS))).toBe(false);
    expect(hasTooManyMarks(marks(MAX_MARKS + 1))).toBe(true);
    expect(compose(marks(MAX_MARKS + 1), 1_000)).toBeUndefined();
    expect(compose('aaaaa', 1)).toBeUndefined();
    expect(compose('aaaa', 1)).toBe('aaaa');
  });

  it('is never too long where its code points are few enough, in whatever spelling', () => {
    for (const letter of ['\u1f82', 'é', '😀', '가']) {
      expect(isTooLong(letter.repeat(10).normalize('NFD'), 10)).toBe(false);
    }
  });
});

describe('A normal form', () => {
  it.each([
    ['  a  ', { max: 10 }, 'a'],
    ['\u00a0a\ufeff', { max: 10 }, 'a'],
    [' a ', { max: 10, asItIs: true }, ' a '],
    ['e\u0301', { max: 10, asItIs: true }, 'é'],
    ['a\r\nb', { max: 10, multiline: true }, 'a\nb'],
    ['a\r\nb', { max: 10 }, 'a\r\nb'],
    ['a\rb', { max: 10, multiline: true }, 'a\rb'],
    [' aaaaa', { max: 1 }, ' aaaaa'],
  ])('of %j with %j is %j', (text, form, expected) => {
    expect(normalise(text, form)).toBe(expected);
  });

  it('of a normal form is the same', () => {
    fc.assert(
      fc.property(TEXT, (text) => {
        const form = { max: 100 };
        const once = normalise(text, form);
        expect(normalise(once, form)).toBe(once);
      }),
    );
  });
});

describe('The pattern of a text', () => {
  const matches = (text: string, form: Parameters<typeof textPattern>[0]) =>
    new RegExp(textPattern(form), 'u').test(text);
  const form = { min: 1, multiline: false, secret: false };

  it.each([
    ['a', {}, true],
    ['', {}, false],
    [' ', {}, false],
    [' a ', {}, true],
    ['a\nb', {}, false],
    ['a\nb', { multiline: true }, true],
    ['a\tb', { multiline: true }, true],
    ['a\u0000b', { multiline: true }, false],
    ['a\u0085b', {}, false],
    ['', { min: 0 }, true],
    [' a ', { min: 2 }, false],
    ['a b', { min: 3 }, true],
    [' ab', { min: 3 }, false],
    ['a  ', { min: 3, secret: true }, true],
    ['a@b', { without: '@' }, false],
  ])('of %j with %j: %s', (text, more, expected) => {
    expect(matches(text, { ...form, ...more })).toBe(expected);
  });

  it('says of every text what its normal form and length say', () => {
    const unit = fc.constantFrom('a', ' ', '\t', '\n', '\u00a0', 'é', '😀', '\u0000');
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 8 }), fc.integer({ min: 1, max: 4 }), (text, min) => {
        const normal = normalise(text, { max: 100 });
        const isRight = !/\p{Cc}/u.test(text) && hasLength(normal, min, 100);
        expect(matches(text, { ...form, min })).toBe(isRight);
      }),
    );
  });

  it('of one’s own is for the whole text, without flags that a document can’t say', () => {
    expect(new RegExp(wholePattern(/a|b/), 'u').test('ab')).toBe(false);
    expect(wholePattern(/a/u)).toBe('^(?:a)$');
    for (const pattern of [/a/i, /a/g, /a/s, /a/m]) expect(() => wholePattern(pattern)).toThrow('flags');
  });
});

describe('A length', () => {
  it('counts code points', () => {
    expect(hasLength('😀'.repeat(5), 5, 5)).toBe(true);
    expect(hasLength('😀'.repeat(6), 1, 5)).toBe(false);
    expect([hasLength('😀', 1, 5), hasLength('😀', 2, 5)]).toEqual([true, false]);
    expect([hasLength('ab', 2, 5), hasLength('a', 2, 5)]).toEqual([true, false]);
    expect(hasLength('', 0, 5)).toBe(true);
    expect(hasLength('a'.repeat(1_000_000), 1, 5)).toBe(false);
  });

  it.each([
    [1, 1, 'must be 1 character'],
    [2, 2, 'must be 2 characters'],
    [0, 5, 'must be at most 5 characters'],
    [1, 5, 'must be 1 to 5 characters'],
  ])('of %i to %i is told so: %s', (min, max, message) => {
    expect(lengthMessage(min, max)).toBe(message);
  });
});

describe('An e-mail address', () => {
  it.each([
    ['ada@example.com', true],
    ['ada+tag@example.co.uk', true],
    ['ada', false],
    ['ada@', false],
    ['@example.com', false],
    ['ada@example', false],
    ['ada@example.com\n', false],
    ['ada@example.com, b@example.com', false],
    ['\ud800@example.com', false],
    [`${'a'.repeat(5_000)}@example.com`, false],
    [`a${'\u0301'.repeat(31)}@example.com`, false],
  ])('is %j: %s', (text, expected) => {
    expect(isEmailAddress(text)).toBe(expected);
  });

  it('is asked of any text without an exception', () => {
    fc.assert(fc.property(TEXT, (text) => expect(typeof isEmailAddress(text)).toBe('boolean')));
  });
});
