/**
 * The text of a time for PostgreSQL. ISO 8601 differs in years before 1 and above 9999. The driver's own text has the offset
 * of the process's time zone without its seconds, which zones had before they were unified.
 */
export function momentText(moment: Date): string {
  const year = moment.getUTCFullYear();
  const text = moment.toISOString();
  if (year > 0 && year < 10_000) return text;
  const rest = text.slice(text.indexOf('-', 1));
  return year > 0 ? `${year}${rest}` : `${String(1 - year).padStart(4, '0')}${rest} BC`;
}
