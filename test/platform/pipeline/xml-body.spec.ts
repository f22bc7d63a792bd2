import type { Declared } from '../../../src/platform/input/declared-types';
import { parseXml } from '../../../src/platform/pipeline/xml-body';

const ATTRIBUTES: Record<string, Declared | undefined> = {
  name: { type: 'string' },
  price: { type: 'number' },
  active: { type: 'boolean' },
  tags: { type: 'array', items: { type: 'string' } },
  sizes: { type: 'array', items: { type: 'number' } },
  maker: { type: 'object', of: () => ({ type: 'number' }) },
};
const PRODUCT: Declared = { type: 'object', of: (name) => ATTRIBUTES[name] };

describe('XML without types', () => {
  it.each([
    ['<p><name>1</name></p>', { name: '1' }],
    ['<p><price>1</price></p>', { price: 1 }],
    ['<p><price> 9.50\n</price></p>', { price: 9.5 }],
    ['<p><price>many</price></p>', { price: 'many' }],
    ['<p><price>0x10</price></p>', { price: '0x10' }],
    ['<p><price/></p>', { price: '' }],
    ['<p><active>true</active></p>', { active: true }],
    ['<p><active>1</active></p>', { active: '1' }],
    ['<p><tags><item>1</item></tags></p>', { tags: ['1'] }],
    ['<p><tags>\n</tags></p>', { tags: [] }],
    ['<p><tags>x</tags></p>', { tags: 'x' }],
    ['<p><sizes><item>1</item><item>2</item></sizes></p>', { sizes: [1, 2] }],
    ['<p><maker><id>7</id></maker></p>', { maker: { id: 7 } }],
    ['<p><maker/></p>', { maker: {} }],
    ['<p><other>7</other></p>', { other: '7' }],
    ['<p><price type="string">7</price></p>', { price: '7' }],
    ['<p><name type="null"/></p>', { name: null }],
    ['<p/>', {}],
    ['\ufeff<p> </p>', {}],
    ['<p><!-- a --><name>a<!-- b -->b</name></p>', { name: 'ab' }],
    ['<p><name><![CDATA[<b> & ]]>x</name></p>', { name: '<b> & x' }],
    ['<p><name>&lt;&gt;&amp;&quot;&apos;&#65;&#x1F600;</name></p>', { name: '<>&"\'A😀' }],
    ['<p><name>a\r\nb\rc&#13;</name></p>', { name: 'a\nb\nc\r' }],
    ['<?xml version="1.0" encoding="utf-8" standalone="yes"?>\n<p/>\n', {}],
  ])('%j takes those that are declared', async (xml, value) => {
    expect(await parseXml(xml, PRODUCT)).toEqual(value);
  });

  it.each([
    ['nothing', '', 'xml'],
    ['blanks', ' \n', 'xml'],
    ['no XML', '{"a":1}', 'xml'],
    ['an unclosed element', '<p><a>', 'xml'],
    ['two roots', '<p/><p/>', 'xml'],
    ['text after the root', '<p/>x', 'xml'],
    ['elements that overlap', '<p><a><b></a></b></p>', 'xml'],
    ['a bare ampersand', '<p>a & b</p>', 'xml'],
    ['an unknown entity', '<p><a>&nbsp;</a></p>', 'xml'],
    ['a declared entity', '<!DOCTYPE p [<!ENTITY a "b">]><p><a>&a;</a></p>', 'xml'],
    ['an external entity', '<!DOCTYPE p [<!ENTITY a SYSTEM "file:///etc/passwd">]><p><a>&a;</a></p>', 'xml'],
    ['a document type', '<!DOCTYPE p SYSTEM "http://127.0.0.1/p.dtd"><p/>', 'xml'],
    ['a processing instruction', '<?xml-stylesheet href="a"?><p/>', 'xml'],
    ['an instruction within', '<p><?php a ?></p>', 'xml'],
    ['another version', '<?xml version="1.1"?><p/>', 'xml'],
    ['another encoding', '<?xml version="1.0" encoding="UTF-16"?><p/>', 'encoding'],
    ['a control character', '<p><a>\u0001</a></p>', 'xml'],
    ['a reference to one', '<p><a>&#1;</a></p>', 'xml'],
    ['a reference to half a pair', '<p><a>&#xD800;</a></p>', 'xml'],
    ['a reference beyond Unicode', '<p><a>&#x110000;</a></p>', 'xml'],
    ['text among elements', '<p>x<a/></p>', 'xml'],
    ['another attribute', '<p id="1"/>', 'xml'],
    ['a namespace', '<p xmlns="urn:x"/>', 'xml'],
    ['an attribute twice', '<p type="object" type="object"/>', 'xml'],
    ['an unknown type', '<p><a type="integer">1</a></p>', 'xml'],
    ['an element twice', '<p><name>a</name><name>b</name></p>', 'once'],
    ['a name twice', '<p><a/><item name="a"/></p>', 'once'],
    ['an item of another name', '<p><tags><tag>a</tag></tags></p>', 'item'],
    ['no number', '<p><price type="number">x</price></p>', 'type'],
    ['a number with a sign', '<p><price type="number">+1</price></p>', 'type'],
    ['no boolean', '<p><a type="boolean">yes</a></p>', 'type'],
    ['a full null', '<p><a type="null">x</a></p>', 'type'],
    ['a text of elements', '<p><a type="string"><b/></a></p>', 'type'],
    ['a list of text', '<p><a type="array">x</a></p>', 'type'],
    ['an object of text', '<p><a type="object">x</a></p>', 'type'],
  ])('with %s is refused', async (_kind, xml, rule) => {
    await expect(parseXml(xml, PRODUCT)).rejects.toMatchObject({ fields: [{ rule }] });
  });

  it('names the element of a wrong type', async () => {
    const xml = '<p type="object"><items type="array"><item><q type="number">x</q></item></items></p>';
    await expect(parseXml(xml)).rejects.toMatchObject({ fields: [{ field: 'items.0.q' }] });
  });

  it('nests and holds as much as JSON may', async () => {
    const nested = (depth: number) => `${'<a>'.repeat(depth)}<b/>${'</a>'.repeat(depth)}`;
    const many = (count: number) => `<p>${Array.from({ length: count }, (_, at) => `<a${at}/>`).join('')}</p>`;
    await expect(parseXml(nested(33))).resolves.toEqual(expect.any(Object));
    await expect(parseXml(nested(34))).rejects.toMatchObject({ fields: [{ rule: 'depth' }] });
    await expect(parseXml(many(500))).resolves.toEqual(expect.any(Object));
    await expect(parseXml(many(501))).rejects.toMatchObject({ fields: [{ rule: 'size' }] });
  });

  it('is read in pieces as in one', async () => {
    const text = `${'😀'.repeat(40_000)}\r\n${'&amp;é'.repeat(40_000)}<![CDATA[${']]'.repeat(40_000)}]]>`;
    const read = (await parseXml(`<p><a>x${text}</a></p>`)) as { a: string };
    expect(read.a === `x${'😀'.repeat(40_000)}\n${'&é'.repeat(40_000)}${']]'.repeat(40_000)}`).toBe(true);
  });

  it('has as many lines as it has ends of lines, wherever a piece ends', async () => {
    const ends = '\r\n\r\r\n\n\r';
    for (let before = 65_536 - '<p><a>'.length - ends.length; before < 65_536; before++) {
      const { a } = (await parseXml(`<p><a>${'x'.repeat(before)}${ends}</a></p>`)) as { a: string };
      expect([before, a.slice(before)]).toEqual([before, '\n\n\n\n\n']);
    }
  });
});
