import type { EntityManager, EntityTarget, ObjectLiteral } from 'typeorm';

/** A row whose read has begun before the handler. */
export interface Prefetched {
  manager: EntityManager;
  entity: EntityTarget<ObjectLiteral>;
  id: number;
  /** Undefined once somebody has it. */
  row?: Promise<ObjectLiteral>;
}

/** That of the handler which has just been called, until its first await. */
let ofHandler: Prefetched | undefined;

/** Calls a handler. Until its first `await`, {@link takePrefetched} gives it this row. */
export function handOver<T>(prefetched: Prefetched | undefined, handler: () => T): T {
  ofHandler = prefetched;
  try {
    return handler();
  } finally {
    ofHandler = undefined;
  }
}

/** The row that was prefetched for the handler, if it is this one, and nobody has it. */
export function takePrefetched<E extends ObjectLiteral>(
  manager: EntityManager,
  entity: EntityTarget<E>,
  id: number,
): Promise<E> | undefined {
  if (!ofHandler || ofHandler.id !== id || ofHandler.entity !== entity || ofHandler.manager !== manager)
    return undefined;
  const { row } = ofHandler;
  ofHandler.row = undefined;
  return row as Promise<E> | undefined;
}
