import type { Request, Response } from 'express';
import { ApiError } from '../errors/api-error';
import { EVENT_STREAM } from '../http/event-stream';
import { neighbourhoodOf, networkOf, NETWORKS_OF_SITE } from '../limits/client-network';
import { Tally } from '../limits/tally';
import { gauge } from '../signals/measure';
import { rateLimited } from '../signals/operations';

/** The time in seconds after which it is worth asking again. */
const AGAIN = 10;

const STREAM = { kind: 'stream' } as const;
const POLL = { kind: 'poll' } as const;
const listeners = gauge(
  'api_change_listeners',
  'Requests that wait for changes: open streams, and long polls.',
  ['kind'],
  [STREAM, POLL],
);

/** How many may listen at once in a process. */
export interface ListenerLimits {
  all: number;
  ofUser: number;
  ofNetwork: number;
}

/** 429 for a caller who listens too often already. */
export const tooManyListeners = (whose = 'Your account') =>
  new ApiError('TOO_MANY_REQUESTS', {
    details: `${whose} waits for changes by too many requests at once`,
    headers: { 'Retry-After': String(AGAIN) },
  });

/** Those who wait for changes in this process, so that no user and no network takes all places. */
export class ListenerPlaces {
  private taken = 0;
  private readonly ofUsers = new Tally<number>();
  private readonly ofNetworks = new Tally<string>();
  private readonly ofNeighbourhoods = new Tally<string>();

  /**
   * Takes a place until the answer is over.
   * @throws {ApiError} TOO_MANY_REQUESTS, SERVICE_UNAVAILABLE
   */
  take(request: Request, { all, ofUser, ofNetwork }: ListenerLimits): void {
    const { ip, user } = request;
    const id = user!.id;
    const [network, neighbourhood] = [networkOf(ip), neighbourhoodOf(ip)];
    if (this.ofUsers.of(id) >= ofUser) throw refused(tooManyListeners());
    const isFull =
      this.ofNetworks.of(network) >= ofNetwork ||
      this.ofNeighbourhoods.of(neighbourhood) >= NETWORKS_OF_SITE * ofNetwork;
    if (isFull) throw refused(tooManyListeners('Your network'));
    if (this.taken >= all) throw refused(full());
    const kind = request.produces === EVENT_STREAM ? STREAM : POLL;
    const add = (more: number) => {
      this.taken += more;
      this.ofUsers.add(id, more);
      this.ofNetworks.add(network, more);
      this.ofNeighbourhoods.add(neighbourhood, more);
      listeners.add(kind, more);
    };
    const response = request.res as Response;
    request.awaitsEvents = true;
    if (response.closed) return;
    add(1);
    response.once('close', () => add(-1));
  }
}

function refused(error: ApiError): ApiError {
  rateLimited.add({ limit: 'listeners' });
  return error;
}

const full = () =>
  new ApiError('SERVICE_UNAVAILABLE', {
    message: 'Too many wait for changes already',
    headers: { 'Retry-After': String(AGAIN) },
  });
