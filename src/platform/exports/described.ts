import { csv } from './csv';
import { ndjson } from './ndjson';

/** What the document says of each list: another content of its 200 would make unions of types of all generated clients. */
export const WHOLE_LIST = `With \`Accept: ${csv.mediaType}\` or \`Accept: ${ndjson.mediaType}\` the answer has all items that match, not a page.`;

/** The same for all of them, in the introduction. */
export const WHOLE_LISTS = `With \`Accept: ${csv.mediaType}\` or \`Accept: ${ndjson.mediaType}\` a collection is sent whole, as one snapshot, with the same filters, \`sort\` and \`fields\`. An
  answer that broke off is not whole: the connection is reset. In CSV a text that would be a formula begins with an apostrophe, and lists and objects are JSON in one field.`;
