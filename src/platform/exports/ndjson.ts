import { toJson } from '../http/json';
import type { ExportFormat } from './export-format';

/** One representation a line, as in the `data` of a page, without envelope. */
export const ndjson: ExportFormat = {
  mediaType: 'application/x-ndjson',
  contentType: 'application/x-ndjson; charset=utf-8',
  extension: 'ndjson',
  head: () => '',
  line: (item) => `${toJson(item)}\n`,
};
