import { type CustomDecorator, type ExecutionContext, SetMetadata } from '@nestjs/common';

const PRIMARY = Symbol('reads the primary');
const LEADS = Symbol('leads reads');

/** Reads of the route, or of all routes of the controller, never go to the replica of DATABASE_REPLICA_URL. */
export const ReadsPrimary = (): CustomDecorator<symbol> => SetMetadata(PRIMARY, true);

/**
 * As {@link ReadsPrimary}, and what its caller reads next shows at least what this route has told it, at every instance: for
 * routes that tell what others have written, to those who then read it.
 */
export const LeadsReads = (): CustomDecorator<symbol> => SetMetadata(LEADS, true);

export const leadsReads = (context: ExecutionContext): boolean => has(context, LEADS);

export const readsPrimary = (context: ExecutionContext): boolean => has(context, PRIMARY) || leadsReads(context);

const has = (context: ExecutionContext, key: symbol): boolean =>
  [context.getHandler(), context.getClass()].some((target) => Reflect.getMetadata(key, target) === true);
