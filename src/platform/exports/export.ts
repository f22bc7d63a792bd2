import type { Request } from 'express';
import { validationError } from '../errors/api-error';
import { isRead } from '../http/is-read';
import { attributesOf, type DtoClass } from '../input/fields';
import { vendorMediaType } from '../routing/version';
import { VERSIONS } from '../http/api-version';
import { XML_TYPES } from '../http/xml';
import { csv } from './csv';
import type { ExportFormat } from './export-format';
import { ndjson } from './ndjson';

const FORMATS = [csv, ndjson];
/** A quick look: few callers ask for one of them. */
const MAY_ASK = /csv|ndjson/i;
const UTF_8 = '; charset=utf-8';
/** What callers may prefer to them. */
const OTHERS = ['application/json', ...VERSIONS.map(vendorMediaType), ...XML_TYPES].map((type) => type + UTF_8);
const OFFERS = [...OTHERS, ...FORMATS.map(({ contentType }) => contentType)];

/** Parameters that choose a part of a list, or what an item embeds. */
const OF_PAGES = ['page', 'cursor', 'size', 'limit', 'total', 'include'];

declare module 'express-serve-static-core' {
  interface Request {
    /** Set where the caller asks for all rows of a list instead of a page. */
    exported?: Export;
  }
}

/** All rows of a list, as one caller asks for them. */
export class Export {
  /** Looks the caller up again while the rows are sent. Undefined for anonymous callers. */
  confirm?: () => Promise<void>;
  readonly attributes: string[];

  constructor(
    readonly format: ExportFormat,
    dto: DtoClass,
    /** False for HEAD, for which no row is read. */
    readonly readsRows: boolean,
  ) {
    this.attributes = attributesOf(dto);
  }

  /** @throws {ApiError} VALIDATION_ERROR for a parameter that there is no use for */
  requireWhole(query: object): void {
    const message = `is not a parameter of ${this.format.mediaType}, which has all rows that match`;
    const names = OF_PAGES.filter((name) => name in query);
    if (names.length > 0) throw validationError(names.map((field) => ({ field, rule: 'unknown', message })));
  }
}

/** Whether `Accept` may name one of the media types for whole lists. */
export const mayAskForExport = ({ headers: { accept } }: Request): boolean =>
  accept !== undefined && accept !== 'application/json' && MAY_ASK.test(accept);

/** Notes with the request that its caller prefers a whole list, and returns whether it does. @param dto of the items */
export function asksForExport(request: Request, dto: DtoClass): boolean {
  const chosen = isRead(request) && request.accepts(OFFERS);
  const format = FORMATS.find(({ contentType }) => contentType === chosen);
  if (!format) return false;
  request.exported = new Export(format, dto, request.method !== 'HEAD');
  // Caches of answers tell representations apart by this.
  request.produces = format.mediaType;
  return true;
}
