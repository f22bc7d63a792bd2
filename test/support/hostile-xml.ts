type Make = (size: number) => string;

const fill = (piece: string, size: number): string => piece.repeat(Math.floor(size / Buffer.byteLength(piece)));

/** A document with a part that is repeated until it is as long as may be. */
const around =
  (start: string, piece: string, end = ''): Make =>
  (size) =>
    start + fill(piece, size - Buffer.byteLength(start + end)) + end;
const inText = (piece: string): Make => around('<p><name>', piece, '</name></p>');
const inNumber = (start: string, piece: string, end: string): Make =>
  around(`<p><price type="number">${start}`, piece, `${end}</price></p>`);

/** Bodies that cost a parser, or what comes after it, the most. Few are valid, and none has much to say. */
export const HOSTILE_XML: Record<string, Make> = {
  'a long text': inText('a'),
  blanks: inText(' '),
  'carriage returns': inText('\r'),
  entities: inText('&amp;'),
  'references to characters': inText('&#x41;'),
  'sections of CDATA': inText('<![CDATA[a]]>'),
  comments: inText('<!---->'),
  'a long section': around('<p><![CDATA[', ']'),
  'a long comment': around('<p><!-- ', '- '),
  'combining marks': inText('\u0316\u0301'),
  emoji: inText('😀'),
  'brackets of a kind': inText(']'),
  nesting: around('', '<a>'),
  'many elements': around('<p>', '<a/>', '</p>'),
  'many items': around('<p type="array">', '<item/>', '</p>'),
  'open angles': around('', '<'),
  ampersands: around('<p>', '&'),
  'a long name': around('<', 'a', '/>'),
  'a name in an attribute': around('<p><item name="', 'a', '"/></p>'),
  'references in an attribute': around('<p name="', '&amp;', '"/>'),
  'lines in an attribute': around('<p name="', '\n', '"/>'),
  'many attributes': around('<p ', 'a="" ', '/>'),
  'blanks in a tag': around('<p', ' ', '/>'),
  'a document type': around('<!DOCTYPE p [', '<!ENTITY a "b">', ']><p/>'),
  'entities of entities': around('<!DOCTYPE p [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><p>', '&b;', '</p>'),
  'quotes in a document type': around('<!DOCTYPE p ', '"\''),
  instructions: around('', '<?a?>', '<p/>'),
  'a long instruction': around('<p><?a ', '?'),
  'a long declaration': around('<?xml version="1.0"', ' ', '?><p/>'),
  'a long entity': around('<p>&', 'a', ';</p>'),
  'a long reference': around('<p>&#', '1', ';</p>'),
  digits: inNumber('', '1', ''),
  'digits and a letter': inNumber('', '1', 'x'),
  'zeros of an exponent': inNumber('1e', '0', '1'),
  'blanks after a number': inNumber('1', ' ', 'x'),
  'text among elements': around('<p>', ' x ', '<a/></p>'),
  'blanks before the root': around('', ' ', '<p/>x'),
  'comments after the root': around('<p/>', '<!---->', 'x'),
};
