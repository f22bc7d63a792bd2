const exposed = new Set([
  'ETag',
  'Link',
  'Location',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'X-Request-Id',
  'Idempotent-Replayed',
  // Tells a page that its user must sign in again, or that another tab has the new tokens.
  'WWW-Authenticate',
]);

/** Lets scripts of the origins in CORS_ORIGINS read further answer headers. Call it where a module is declared. */
export function exposeHeaders(...names: string[]): void {
  for (const name of names) exposed.add(name);
}

export const exposedHeaders = (): string[] => [...exposed];
