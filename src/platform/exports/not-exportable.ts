import { Logger } from '@nestjs/common';
import { ApiError } from '../errors/api-error';

const logger = new Logger('Export');

/**
 * 406 for a list of which only pages can be had. Its developer is told why.
 * @param why e.g. `its handler changed the page`
 */
export function notExportable(why: string): ApiError {
  logger.warn(
    `A list was asked for as a whole, and has pages alone, as ${why}. Return (await paginate(...)).map(toDto), ` +
      'outside of a transaction, where its callers should get CSV and NDJSON',
  );
  return new ApiError('NOT_ACCEPTABLE', { details: 'Accept application/json: this list is read page by page' });
}
