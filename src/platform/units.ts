export const MS_PER_SECOND = 1_000;
export const SECONDS_PER_MINUTE = 60;
export const SECONDS_PER_HOUR = 60 * SECONDS_PER_MINUTE;
export const SECONDS_PER_DAY = 24 * SECONDS_PER_HOUR;

/** Milliseconds. */
export const seconds = (count: number): number => count * MS_PER_SECOND;
export const minutes = (count: number): number => seconds(count * SECONDS_PER_MINUTE);
export const hours = (count: number): number => seconds(count * SECONDS_PER_HOUR);
export const days = (count: number): number => seconds(count * SECONDS_PER_DAY);

/** Bytes. */
export const kibibytes = (count: number): number => count * 1_024;
export const mebibytes = (count: number): number => kibibytes(count * 1_024);
export const gibibytes = (count: number): number => mebibytes(count * 1_024);
