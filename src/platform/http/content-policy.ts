import type { Response } from 'express';

const NAME = 'Content-Security-Policy';

/** Notes the policy of middleware, such as that of `app.useSecurityHeaders()`. Call it before the handler. */
export function notePolicy(response: Response): void {
  response.commonPolicy = response.getHeader(NAME) ?? null;
}

/** Takes off the policy of a handler, which is one for its success. That of middleware is for errors, too. */
export function restorePolicy(response: Response): void {
  const { commonPolicy } = response;
  if (commonPolicy === null) response.removeHeader(NAME);
  else if (commonPolicy !== undefined) response.setHeader(NAME, commonPolicy);
}

declare module 'express-serve-static-core' {
  interface Response {
    /** The policy that middleware has set; null for none, undefined before {@link notePolicy}. */
    commonPolicy?: number | string | string[] | null;
  }
}
