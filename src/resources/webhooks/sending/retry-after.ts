import type { IncomingMessage } from 'node:http';

/** The statuses by which a receiver says that it will have time later. */
const LATER = [429, 503];
const SECONDS = /^\d{1,9}$/;
/** RFC 9110, 5.6.7. The forms of older RFCs are obsolete. */
const DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** The seconds after which a receiver wants to be asked again (RFC 9110, 10.2.3); undefined if it doesn't say so. */
export function retryAfterOf(
  { statusCode, headers }: Pick<IncomingMessage, 'statusCode' | 'headers'>,
  now = Date.now(),
): number | undefined {
  const text = headers['retry-after'];
  if (text === undefined || !LATER.includes(statusCode!)) return undefined;
  if (SECONDS.test(text)) return Number(text);
  const moment = DATE.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(moment) ? undefined : Math.max(0, Math.ceil((moment - now) / 1_000));
}
