/** No connection is available: the database can't be reached, refuses the service, or has none to spare. */
export class ConnectionError extends Error {
  constructor(cause: unknown) {
    super(`The database gives no connection: ${reasonOf(cause)}`, { cause });
  }
}

/**
 * The message of the driver or the system. A host with several addresses fails with an error for each and an empty
 * message.
 */
export function reasonOf(error: unknown): string {
  const { message, errors = [] } = error as { message: string; errors?: Error[] };
  return message || errors.map((each) => each.message).join(', ');
}
