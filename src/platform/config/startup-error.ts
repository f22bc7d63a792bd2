/** What keeps the service from starting, in words for whoever starts it: they are printed as they are, without a stack. */
export class StartupError extends Error {}
