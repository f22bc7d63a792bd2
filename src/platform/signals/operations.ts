import { counter } from './measure';

// What several rooms of the platform count, and operators watch.

/** Requests that a limit has refused. */
export const rateLimited = counter('api_rate_limited_total', 'Requests that a limit has refused, by the limit.', [
  'limit',
]);

/** What was ended because it took too long. */
export const timeOuts = counter(
  'api_time_outs_total',
  'What was ended because it took too long.',
  ['what'],
  ['request', 'search', 'export'].map((what) => ({ what })),
);
