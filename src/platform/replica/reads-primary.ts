import { type CustomDecorator, type ExecutionContext, SetMetadata } from '@nestjs/common';

const PRIMARY = Symbol('reads the primary');

/** Reads of the route, or of all routes of the controller, never go to the replica of DATABASE_REPLICA_URL. */
export const ReadsPrimary = (): CustomDecorator<symbol> => SetMetadata(PRIMARY, true);

export const readsPrimary = (context: ExecutionContext): boolean =>
  [context.getHandler(), context.getClass()].some((target) => Reflect.getMetadata(PRIMARY, target) === true);
