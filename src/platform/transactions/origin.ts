import type { EventEmitter } from 'node:events';
import type { Writer } from './writer';

/** The request behind the work: what is asked of it here is there in Express's. */
export interface Origin {
  readonly id: string;
  /** The client's address. */
  readonly ip?: string;
  /** Nobody before the request is let in. */
  readonly user?: Writer;
  readonly res?: EventEmitter & {
    readonly closed: boolean;
    readonly writableFinished: boolean;
    readonly statusCode: number;
  };
}
