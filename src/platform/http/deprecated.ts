import { applyDecorators, Header } from '@nestjs/common';
import { ApiExtension } from '@nestjs/swagger';
import { Extension } from './route-keys';
import { MS_PER_SECOND } from '../units';

export interface Deprecation {
  /** When the route becomes deprecated: a date such as 2026-01-31, or a time in ISO 8601. */
  since: string;
  /** When the route may be removed, in the same form. */
  sunset?: string;
  /** A URL that says what to use instead. */
  link?: string;
}

/**
 * Announces the end of a route by the headers `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and `Link`, and in the
 * document.
 */
export const Deprecated = (deprecation: Deprecation): MethodDecorator =>
  applyDecorators(
    ...Object.entries(deprecationHeaders(deprecation)).map(([name, value]) => Header(name, value)),
    ApiExtension(Extension.DEPRECATION, deprecation),
  );

/** @throws {RangeError} for a text that isn't a date */
export function deprecationHeaders({ since, sunset, link }: Deprecation): Record<string, string> {
  return {
    Deprecation: `@${dateOf(since) / MS_PER_SECOND}`,
    ...(sunset !== undefined && { Sunset: new Date(dateOf(sunset)).toUTCString() }),
    ...(link !== undefined && { Link: `<${link}>; rel="deprecation"; type="text/html"` }),
  };
}

function dateOf(text: string): number {
  const time = Date.parse(text);
  if (Number.isNaN(time)) throw new RangeError(`${text} is not a date`);
  // Dates in structured fields have whole seconds.
  return Math.floor(time / MS_PER_SECOND) * MS_PER_SECOND;
}
