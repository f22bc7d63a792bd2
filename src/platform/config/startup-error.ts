/** The service can't start. The message is written for the operator, and is printed without a stack. */
export class StartupError extends Error {}
