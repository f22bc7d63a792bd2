import { SaxesParser } from 'saxes';
import { MAX_DEPTH } from './bounded-json';
import { bodyError } from '../errors/to-api-error';

/** The types of JSON, which the attribute `type` names. */
export const XML_VALUE_TYPES = ['string', 'number', 'boolean', 'null', 'array', 'object'] as const;
export type XmlValueType = (typeof XML_VALUE_TYPES)[number];

export interface XmlElement {
  /** The name of the attribute that it is. */
  name: string;
  /** The declared type. Undefined for an element that declares none. */
  type?: XmlValueType;
  text: string;
  children: XmlElement[];
}

const OPTIONS = { xmlns: false, position: false, defaultXMLVersion: '1.0', forceXMLVersion: true } as const;
/** Anything but blanks of XML. */
export const ANY_TEXT = /[^ \t\r\n]/;

/**
 * Reads a document into elements. It stops at the first mistake, and as soon as it is too deep or too large. There are
 * no document types, so there are no entities but the five of XML itself.
 */
export class XmlReader {
  private root: XmlElement;
  private readonly open: XmlElement[] = [];
  private values = -1;
  private readonly parser = new SaxesParser(OPTIONS);

  /** @param maxValues the greatest number of elements, without the root */
  constructor(private readonly maxValues: number) {
    const { parser } = this;
    parser.on('xmldecl', ({ version, encoding = 'UTF-8' }) => {
      if (version !== '1.0') throw malformed();
      if (encoding.toUpperCase() !== 'UTF-8') throw bodyError('encoding', 'must be declared as UTF-8');
    });
    parser.on('doctype', () => {
      throw bodyError('xml', 'must have no document type');
    });
    parser.on('processinginstruction', () => {
      throw bodyError('xml', 'must have no processing instructions');
    });
    parser.on('error', () => {
      // The parser's own message may quote the body, which may contain a password.
      throw malformed();
    });
    parser.on('opentagstart', ({ name }) => this.start(name));
    parser.on('attribute', ({ name, value }) => this.addAttribute(name, value));
    parser.on('text', (part) => this.addText(part));
    parser.on('cdata', (part) => this.addText(part));
    parser.on('closetag', () => this.end());
  }

  /** @throws {ApiError} VALIDATION_ERROR */
  write(piece: string): void {
    this.parser.write(piece);
  }

  /** @throws {ApiError} VALIDATION_ERROR */
  close(): XmlElement {
    this.parser.close();
    return this.root;
  }

  private start(name: string): void {
    if (++this.values > this.maxValues) throw bodyError('size', `must not hold more than ${this.maxValues} values`);
    // The values of the innermost object are elements, too.
    if (this.open.length > MAX_DEPTH + 1) throw bodyError('depth', `must not nest deeper than ${MAX_DEPTH} levels`);
    const element: XmlElement = { name, text: '', children: [] };
    if (this.open.length > 0) this.open[this.open.length - 1].children.push(element);
    else this.root = element;
    this.open.push(element);
  }

  private addAttribute(name: string, value: string): void {
    const element = this.open[this.open.length - 1];
    if (name === 'name') element.name = value;
    else if (name === 'type' && isType(value)) element.type = value;
    else throw bodyError('xml', `must have no attributes but name, and type with ${XML_VALUE_TYPES.join(', ')}`);
  }

  private addText(text: string): void {
    // Only blanks and comments may stand outside of the root.
    if (this.open.length > 0) this.open[this.open.length - 1].text += text;
  }

  private end(): void {
    const { children, text } = this.open.pop()!;
    if (children.length > 0 && ANY_TEXT.test(text)) throw bodyError('xml', 'must not mix text with elements');
  }
}

const isType = (value: string): value is XmlValueType => (XML_VALUE_TYPES as readonly string[]).includes(value);

const malformed = () => bodyError('xml', 'must be well-formed XML 1.0');
