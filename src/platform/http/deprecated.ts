import { applyDecorators, Header } from '@nestjs/common';
import { ApiExtension } from '@nestjs/swagger';
import { Extension } from './route-keys';

const MILLISECOND = 1_000;

export interface Deprecation {
  /** From when on the route is not to be used any more: a date such as 2026-01-31, or a time in ISO 8601. */
  since: string;
  /** From when on it may not be there any more, in the same form. */
  sunset?: string;
  /** Where to read what to do instead. */
  link?: string;
}

/** Announces the end of a route by `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and a `Link`, and in the document. */
export const Deprecated = (deprecation: Deprecation): MethodDecorator =>
  applyDecorators(
    ...Object.entries(deprecationHeaders(deprecation)).map(([name, value]) => Header(name, value)),
    ApiExtension(Extension.DEPRECATION, deprecation),
  );

/** @throws {RangeError} for something that isn't a date */
export function deprecationHeaders({ since, sunset, link }: Deprecation): Record<string, string> {
  return {
    Deprecation: `@${dateOf(since) / MILLISECOND}`,
    ...(sunset !== undefined && { Sunset: new Date(dateOf(sunset)).toUTCString() }),
    ...(link !== undefined && { Link: `<${link}>; rel="deprecation"; type="text/html"` }),
  };
}

function dateOf(text: string): number {
  const time = Date.parse(text);
  if (Number.isNaN(time)) throw new RangeError(`${text} is not a date`);
  // Structured fields have dates in whole seconds.
  return Math.floor(time / MILLISECOND) * MILLISECOND;
}
