import { Client } from 'pg';
import { DescribedQuery } from '../transactions/described-query';
import { LimitedQuery } from '../transactions/limited-query';
import { StatementGroup } from '../transactions/statement-group';
import type { Registry } from 'prom-client';
import { Durations, STATEMENT_BOUNDS } from './durations';
import { registerRead } from './read-metric';

/** The first words of statements. Others are one, as a statement may begin with anything. */
const VERBS = ['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'WITH', 'BEGIN', 'COMMIT', 'ROLLBACK', 'FETCH', 'SET', 'other'];
const OTHER = VERBS.length - 1;
const OUTCOMES = ['ok', 'failed'];
const LONGEST = 8;
const NAME = 'database_statement_duration_seconds';

type Query = (this: unknown, ...parameters: unknown[]) => unknown;
type Callback = (error: unknown, ...rest: unknown[]) => unknown;

/**
 * Measures all statements of the process, by the method that all of them are sent by. A cursor or a copy that is passed
 * to the driver as an object has no end of its own, and isn't measured.
 */
export class StatementTimes {
  private readonly series = VERBS.map(() => OUTCOMES.map(() => new Durations(STATEMENT_BOUNDS)));

  constructor(registry: Registry) {
    registerRead(registry, {
      name: NAME,
      help: 'The time from the sending of a statement to its answer, by its first word; of several in one message, by that of the last.',
      type: 'histogram',
      aggregator: 'sum',
      read: () =>
        this.series.flatMap((ofVerb, verb) =>
          ofVerb.flatMap((times, outcome) =>
            times.values(NAME, { statement: VERBS[verb], outcome: OUTCOMES[outcome] }),
          ),
        ),
    });
  }

  /** Begins to measure. Returns a function that ends it. */
  begin(): () => void {
    const prototype = Client.prototype as unknown as { query: Query };
    const { query } = prototype;
    const { series } = this;
    const measured: Query = function (...parameters) {
      const text = textOf(parameters[0]);
      if (text === undefined) return query.apply(this, parameters);
      const [ok, failed] = series[verbOf(text)];
      const begun = performance.now();
      const note = (error: unknown) => (error ? failed : ok).add((performance.now() - begun) / 1_000);
      return noted(this, query, parameters, note);
    };
    prototype.query = measured;
    return () => {
      // Somebody who has replaced the method since calls this one, which goes on to the driver's.
      if (prototype.query === measured) prototype.query = query;
    };
  }
}

/** Sends a statement, whose end the driver tells by a callback or a promise. */
function noted(client: unknown, query: Query, parameters: unknown[], note: (error: unknown) => void): unknown {
  const at = parameters.length - 1;
  const callback = parameters[at];
  if (typeof callback !== 'function') {
    const answer = query.apply(client, parameters) as Promise<unknown>;
    answer.then(() => note(undefined), note);
    return answer;
  }
  const told: Callback = (error, ...rest) => {
    note(error);
    (callback as Callback)(error, ...rest);
  };
  parameters[at] = told;
  return query.apply(client, parameters);
}

/** Undefined for what isn't text and options. */
function textOf(statement: unknown): string | undefined {
  if (typeof statement === 'string') return statement;
  if (statement instanceof StatementGroup) return statement.last.text;
  if (statement instanceof LimitedQuery || statement instanceof DescribedQuery) return statement.text;
  const { text, submit, callback } = statement as { text?: string; submit?: unknown; callback?: unknown };
  return submit === undefined && callback === undefined ? text : undefined;
}

function verbOf(text: string): number {
  const beginning = text.slice(0, LONGEST + 1).toUpperCase();
  const verb = VERBS.findIndex((one) => beginning.startsWith(one));
  return verb < 0 ? OTHER : verb;
}
