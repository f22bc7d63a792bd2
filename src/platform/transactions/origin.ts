import type { EventEmitter } from 'node:events';
import type { Writer } from './writer';

/** The request of a unit of work. Express's requests fit this type. */
export interface Origin {
  readonly id: string;
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
