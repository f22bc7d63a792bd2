import { storage, Store } from 'nestjs-pino/storage';
import type { Logger, LoggerOptions } from 'pino';
import type { Origin } from '../transactions/origin';
import { UnitOfWork } from '../transactions/unit-of-work';

type Fields = Record<string, unknown>;

const NONE: Fields = {};

/** Adds the request's id and caller to each log line. Fields of the line itself take precedence. */
export const tellsRequest = {
  mixin: requestFields,
  mixinMergeStrategy: (line, fields) => (fields === NONE ? line : Object.assign(fields, line)),
} satisfies LoggerOptions;

function requestFields(): Fields {
  const { id, traceId, user } = UnitOfWork.current()?.origin ?? {};
  if (id === undefined) return NONE;
  return { request_id: id, ...(traceId && { trace_id: traceId }), ...(user && { user_id: user.id }) };
}

/**
 * Makes PinoLogger.assign() add fields to the lines of the current request. The library would follow each request for
 * that; here it uses the current unit of work.
 */
export function keepAssigned(logger: Logger): void {
  const stores = new WeakMap<Origin, Store>();
  const storeOfRequest = () => {
    const origin = UnitOfWork.current()?.origin;
    if (!origin) return undefined;
    let store = stores.get(origin);
    if (!store) stores.set(origin, (store = new Store(logger)));
    return store;
  };
  storage.getStore = storeOfRequest;
}
