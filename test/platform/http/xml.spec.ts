import fc from 'fast-check';
import { toXml } from '../../../src/platform/http/xml';
import { fromXml } from '../../support/xml';

const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>';
/** Texts that XML 1.0 can hold: no control characters but three, no halves of pairs. */
const TEXT = fc
  .string({ unit: 'grapheme' })
  .map((text) => text.replace(/[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, ''));
const { tree: VALUE } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small' },
    TEXT,
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
    fc.constant(null),
    tie('list'),
    tie('object'),
  ),
  list: fc.array(tie('tree'), { maxLength: 5 }),
  object: fc.dictionary(TEXT, tie('tree'), { maxKeys: 5 }),
}));
const OBJECT = fc.dictionary(TEXT, VALUE, { maxKeys: 5 });

describe('XML of JSON', () => {
  it.each([
    ['a text', { a: 'x' }, '<a>x</a>'],
    ['a text that looks like a number', { a: '1' }, '<a>1</a>'],
    ['an empty text', { a: '' }, '<a></a>'],
    ['blanks', { a: ' \t\n' }, '<a> \t\n</a>'],
    ['a number', { a: 1.5 }, '<a type="number">1.5</a>'],
    ['a boolean', { a: false }, '<a type="boolean">false</a>'],
    ['null', { a: null }, '<a type="null"/>'],
    ['an empty list', { a: [] }, '<a type="array"></a>'],
    ['a list of one', { a: ['x'] }, '<a type="array"><item>x</item></a>'],
    ['an empty object', { a: {} }, '<a type="object"></a>'],
    ['an object', { a: { b: 1 } }, '<a type="object"><b type="number">1</b></a>'],
    ['markup', { a: '<b>&amp;</b>]]>' }, '<a>&lt;b&gt;&amp;amp;&lt;/b&gt;]]&gt;</a>'],
    ['a carriage return', { a: '\r\n' }, '<a>&#13;\n</a>'],
    ['a name that is none of XML', { 'a b': 1 }, '<item name="a b" type="number">1</item>'],
    ['a name with quotes and blanks', { '"\n\t': 'x' }, '<item name="&quot;&#10;&#9;">x</item>'],
    ['an empty name', { '': 'x' }, '<item name="">x</item>'],
    ['a name that XML reserves', { xmlns: 'x' }, '<item name="xmlns">x</item>'],
    ['a name with a colon', { 'a:b': 'x' }, '<item name="a:b">x</item>'],
  ])('of %s has the documented form, and is read back', (_kind, value, inside) => {
    const xml = toXml(JSON.stringify(value));
    expect(xml).toBe(`${DECLARATION}<response type="object">${inside}</response>`);
    expect(fromXml(xml)).toEqual(value);
  });

  it('is read back as it was, whatever it was', () => {
    fc.assert(
      fc.property(OBJECT, (value) => {
        const json = JSON.stringify(value);
        expect(JSON.stringify(fromXml(toXml(json)))).toBe(json);
      }),
      { numRuns: 2_000 },
    );
  });

  it('replaces characters that XML can not hold', () => {
    const value = { a: '\u0000\u0008\u001f\ud800x\ufffe\uffff' };
    expect(fromXml(toXml(JSON.stringify(value)))).toEqual({ a: '\ufffd\ufffd\ufffd\ufffdx\ufffd\ufffd' });
  });

  it('keeps names that objects have by themselves as data', () => {
    const json = '{"__proto__":{"admin":true},"constructor":1}';
    expect(JSON.stringify(fromXml(toXml(json)))).toBe(json);
    expect(({} as { admin?: boolean }).admin).toBeUndefined();
  });
});
