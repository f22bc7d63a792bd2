import type { EventEmitter } from 'node:events';
import type { Context } from '@opentelemetry/api';
import type { Writer } from './writer';

/** The request of a unit of work. Express's requests fit this type. */
export interface Origin {
  readonly id: string;
  /** The id of the trace that it belongs to. Undefined without traces. */
  readonly traceId?: string;
  /** The span of the request. Undefined without traces, and until it is asked for if the request isn't sampled. */
  traceContext?: Context;
  /** The client's address. */
  readonly ip?: string;
  /** Undefined until the caller is authenticated. */
  readonly user?: Writer;
  readonly res?: EventEmitter & {
    readonly closed: boolean;
    readonly writableFinished: boolean;
    readonly statusCode: number;
  };
}
