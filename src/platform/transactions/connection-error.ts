/** There is no connection to be had: the database is away, refuses the service, or has none to spare. */
export class ConnectionError extends Error {
  constructor(cause: unknown) {
    super(`The database gives no connection: ${reasonOf(cause)}`, { cause });
  }
}

/** What the driver or the system said. A host with several addresses fails with one error for each, and no message. */
export function reasonOf(error: unknown): string {
  const { message, errors = [] } = error as { message: string; errors?: Error[] };
  return message || errors.map((each) => each.message).join(', ');
}
