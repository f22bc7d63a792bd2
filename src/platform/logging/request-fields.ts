import { storage, Store } from 'nestjs-pino/storage';
import type { Logger, LoggerOptions } from 'pino';
import type { Origin } from '../transactions/origin';
import { UnitOfWork } from '../transactions/unit-of-work';

type Fields = Record<string, unknown>;

const NONE: Fields = {};

/** Which request a line is written in, and whose it is; what the line says of itself counts. */
export const tellsRequest = {
  mixin: requestFields,
  mixinMergeStrategy: (line, fields) => (fields === NONE ? line : Object.assign(fields, line)),
} satisfies LoggerOptions;

function requestFields(): Fields {
  const { id, user } = UnitOfWork.current()?.origin ?? {};
  return id === undefined ? NONE : { request_id: id, ...(user && { user_id: user.id }) };
}

/**
 * Has PinoLogger.assign() add to the lines of the request that it is called in. The library follows each request for this;
 * here it finds the one that is followed anyway.
 */
export function keepAssigned(logger: Logger): void {
  const stores = new WeakMap<Origin, Store>();
  storage.getStore = () => {
    const origin = UnitOfWork.current()?.origin;
    if (!origin) return undefined;
    let store = stores.get(origin);
    if (!store) stores.set(origin, (store = new Store(logger)));
    return store;
  };
}
