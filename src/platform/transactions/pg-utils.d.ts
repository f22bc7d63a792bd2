/** A part of node-postgres without types of its own. */
declare module 'pg/lib/utils' {
  /** A value as it is sent. */
  export function prepareValue(value: unknown): string | Buffer | null;
}
