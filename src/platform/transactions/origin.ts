import type { EventEmitter } from 'node:events';
import type { Context } from '@opentelemetry/api';
import type { Writer } from './writer';

/** The request of a unit of work. Express's requests fit this type. */
export interface Origin {
  readonly id: string;
  /** The id of the trace that it belongs to, and the span of the request. Undefined without traces. */
  readonly traceId?: string;
  readonly traceContext?: Context;
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
