import { identityKey } from '../../../src/platform/text/identity-key';

describe('What a user is known by', () => {
  it.each([
    ['Ada', 'aDA'],
    ['Straße', 'STRASSE'],
    ['re\u0301ne', 'R\u00c9NE'],
    ['ｒｏｏｔ', 'root'],
    ['Ⓐda', 'ada'],
    ['ﬁsher', 'FISHER'],
    ['ada@example.com', 'ADA@EXAMPLE.COM'],
    ['re\u0301ne@example.com', 'r\u00e9ne@example.com'],
  ])('is one: %s and %s', (one, other) => {
    expect(identityKey(one)).toBe(identityKey(other));
  });

  it.each([
    ['ada', 'adа'],
    ['ｗide@example.com', 'wide@example.com'],
    ['ada²@example.com', 'ada2@example.com'],
  ])('is two: %s and %s', (one, other) => {
    expect(identityKey(one)).not.toBe(identityKey(other));
  });

  it('is looked at only where it is as short as a name, and can be composed', () => {
    expect(() => identityKey('\u0316\u0301'.repeat(100_000))).toThrow(RangeError);
    expect(() => identityKey(`a${'\u0316\u0301'.repeat(16)}`)).toThrow(RangeError);
  });
});
