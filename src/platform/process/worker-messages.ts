/** What a worker and its primary tell each other. */
export enum WorkerMessage {
  /** From the worker: it can serve. */
  READY = 'resource-api:ready',
  /** From the worker, before it is ready: there are demo accounts. */
  DEMO = 'resource-api:demo',
  /** The same: one can sign in as a user of them, and as an administrator. */
  OFFER = 'resource-api:offer',
  /** From the worker: it was told to end, by a signal of its own. */
  LEAVING = 'resource-api:leaving',
  /** To the worker, with a connection. */
  CONNECTION = 'resource-api:connection',
  /** To the worker: it has had its last connection. */
  END = 'resource-api:end',
}
