import { toLosslessJson } from '../http/lossless-json';
import type { ExportFormat } from './export-format';

/** What must stand in quotes (RFC 4180, 2). */
const TO_QUOTE = /[",\r\n]/;
/** The beginnings of a text that a spreadsheet takes for a formula (OWASP, CSV Injection). */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;
/** The same within a text: where a spreadsheet separates fields by semicolons or tabs, a field may begin there. */
const INNER_FORMULA = /([;\t\r\n])(?=[=+\-@＝＋－＠])/g;
/** A negative number as text, such as one that is too long for JavaScript: no formula. */
const NEGATIVE = /^-\d+(\.\d+)?$/;
/** A text that a spreadsheet takes for a number, a day or a truth: `00123`, `1e5`, `1/2`, `TRUE`. */
const LIKE_VALUE = /^(?:[-.\d][-\d.,:/ e]*|true|false)$/i;

/**
 * CSV as in RFC 4180, with a header line. Null is an empty field, an empty text is `""`. Lists and objects are JSON in one
 * field. A text that a spreadsheet would run as a formula begins with an apostrophe. A text that looks like another
 * value is quoted, so that it can be told from one.
 */
export const csv: ExportFormat = {
  mediaType: 'text/csv',
  contentType: 'text/csv; charset=utf-8; header=present',
  extension: 'csv',
  head: (attributes) => `${attributes.map(ofText).join()}\r\n`,
  line: (item, attributes) => {
    const values = ('toJSON' in item ? JSON.parse(toLosslessJson(item)) : item) as Record<string, unknown>;
    let line = '';
    for (const name of attributes) line += `,${field(values[name])}`;
    return `${line.slice(1)}\r\n`;
  },
};

function field(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return ofText(value);
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return value instanceof Date ? value.toISOString() : quoted(toLosslessJson(value));
}

function ofText(text: string): string {
  if (text === '') return '""';
  const inner = text.replace(INNER_FORMULA, "$1'");
  const safe = FORMULA.test(text) && !NEGATIVE.test(text) ? `'${inner}` : inner;
  return TO_QUOTE.test(safe) || LIKE_VALUE.test(safe) ? quoted(safe) : safe;
}

const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
