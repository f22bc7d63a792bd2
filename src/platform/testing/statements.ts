import { Client } from 'pg';
import { RepeatedJob } from '../transactions/repeated-job';

type Query = (...parameters: unknown[]) => unknown;

/** The look-up of the caller, and what is sent because of earlier requests: security events, and notices of changes. */
const UNASKED = /FROM sessions|INTO audit_events|pg_notify/;

/** The SQL statements that the application sends during `ask`, except those of jobs and {@link UNASKED}. */
export const statementsOf = (ask: () => Promise<unknown>): Promise<string[]> =>
  RepeatedJob.between(() => recorded(ask));

async function recorded(ask: () => Promise<unknown>): Promise<string[]> {
  const sent: string[] = [];
  const prototype = Client.prototype as unknown as { query: Query };
  const { query } = prototype;
  const spy = jest.spyOn(prototype, 'query').mockImplementation(function (this: Client, ...parameters) {
    const [first] = parameters as [string | { text?: string }];
    sent.push(typeof first === 'string' ? first : (first.text ?? ''));
    return query.apply(this, parameters);
  });
  try {
    await ask();
  } finally {
    spy.mockRestore();
  }
  return sent.filter((text) => !UNASKED.test(text));
}

/**
 * Withholds the database's answer to the first statement of a kind until a change is made, so that later statements see
 * the change.
 */
export async function changeAfter<T>(kind: RegExp, change: () => Promise<unknown>, ask: () => Promise<T>): Promise<T> {
  const prototype = Client.prototype as unknown as { query: Query };
  const { query } = prototype;
  let changed: Promise<unknown> | undefined;
  const spy = jest.spyOn(prototype, 'query').mockImplementation(function (this: Client, ...parameters) {
    const [first] = parameters as [string | { text?: string }];
    const text = typeof first === 'string' ? first : (first.text ?? '');
    if (changed || !kind.test(text)) return query.apply(this, parameters);
    let begin: (value?: unknown) => void = () => undefined;
    changed = new Promise((resolve) => (begin = resolve)).then(change);
    return answerAfter(query.bind(this), parameters, () => (begin(), changed!));
  });
  try {
    const answer = await ask();
    if (!changed) throw new Error(`No statement is like ${kind}`);
    await changed;
    return answer;
  } finally {
    spy.mockRestore();
  }
}

/** The driver accepts a callback or returns a promise. */
function answerAfter(query: Query, parameters: unknown[], wait: () => Promise<unknown>): unknown {
  const last = parameters.at(-1);
  if (typeof last !== 'function')
    return (query(...parameters) as Promise<unknown>).then(async (answer) => (await wait(), answer));
  const callback = last as (...answer: unknown[]) => void;
  return query(...parameters.slice(0, -1), (...answer: unknown[]) => void wait().then(() => callback(...answer)));
}
