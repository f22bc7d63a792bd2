import type { Request, Response } from 'express';
import type { Registry } from 'prom-client';
import { Durations, REQUEST_BOUNDS } from './durations';
import { hasEvents } from '../http/event-stream';
import { registerRead, type Values } from './read-metric';
import type { Answered } from '../signals/answered';

/** Other methods that a client makes up are one. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'other'];
const OTHER = METHODS.length - 1;
/** Above each status. */
const STATUSES = 1_000;

const COUNT = 'http_requests_total';
const TIME = 'http_request_duration_seconds';

/** The requests of a route by one method in one version. */
interface OfMethod {
  labels: Record<'method' | 'route' | 'version', string>;
  times: Durations;
  /** By status; 0 where the client has gone before there was one. */
  statuses: Map<number, number>;
}

/**
 * Counts requests and their time. The labels are the methods that are known, the patterns of declared routes, the
 * versions and the statuses of answers. So the number of series is bounded, whatever clients send.
 */
export class RequestTimes {
  /** By the route's object, as the router has one for each declared route. */
  private readonly routes = new Map<object, Map<number, OfMethod>>();

  constructor(registry: Registry) {
    registerRead(registry, {
      name: COUNT,
      help: 'Requests by method, route pattern, version and status (aborted: the client has gone before the answer).',
      type: 'counter',
      aggregator: 'sum',
      read: () => this.all().flatMap(countsOf),
    });
    registerRead(registry, {
      name: TIME,
      help: 'The time from the arrival of a request to the end of its answer, without streams of events and long polls.',
      type: 'histogram',
      aggregator: 'sum',
      read: () => this.all().flatMap(({ times, labels }) => times.values(TIME, labels)),
    });
  }

  add({ request, response, ms }: Answered): void {
    const { times, statuses } = this.seriesOf(request);
    const status = statusOf(response);
    if (!awaitsEvents(request, response)) times.add(ms / 1_000);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }

  private seriesOf(request: Request): OfMethod {
    const route = (request.route as Route | undefined) ?? UNMATCHED;
    let ofRoute = this.routes.get(route);
    if (!ofRoute) this.routes.set(route, (ofRoute = new Map<number, OfMethod>()));
    const known = METHODS.indexOf(request.method);
    const method = known < 0 ? OTHER : known;
    const { version = 0 } = request;
    const key = method * STATUSES + version;
    let series = ofRoute.get(key);
    if (!series) ofRoute.set(key, (series = newSeries(METHODS[method], route, version)));
    return series;
  }

  private all(): OfMethod[] {
    return [...this.routes.values()].flatMap((ofRoute) => [...ofRoute.values()]);
  }
}

/** A route of Express's router. Its path may also be a list or a regular expression. */
interface Route {
  path: unknown;
}

const UNMATCHED: Route = { path: 'unmatched' };

function newSeries(method: string, { path }: Route, version: number): OfMethod {
  const labels = { method, route: String(path), version: version === 0 ? '' : String(version) };
  return { labels, times: new Durations(REQUEST_BOUNDS), statuses: new Map() };
}

/** A stream lasts as long as its client stays, and a long poll as long as nothing happens. */
const awaitsEvents = ({ awaitsEvents = false }: Request, response: Response): boolean =>
  awaitsEvents || hasEvents(response);

const statusOf = ({ headersSent, statusCode }: Response): number => (headersSent ? statusCode : 0);

function countsOf({ labels, statuses }: OfMethod): Values {
  return [...statuses].map(([status, value]) => ({
    labels: { ...labels, status: status === 0 ? 'aborted' : String(status) },
    value,
  }));
}
