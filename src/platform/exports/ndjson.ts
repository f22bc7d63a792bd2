import { toLosslessJson } from '../http/lossless-json';
import type { ExportFormat } from './export-format';

/** One representation a line, as in the `data` of a page, without envelope. */
export const ndjson: ExportFormat = {
  mediaType: 'application/x-ndjson',
  contentType: 'application/x-ndjson; charset=utf-8',
  extension: 'ndjson',
  head: () => '',
  line: (item) => `${toLosslessJson(item)}\n`,
};
