import type { Request } from 'express';
import { ApiError, Tally } from '../platform';
import { holderOf, type Place, Places } from './places';

/** How long to wait for a place, in milliseconds: short requests that come all at once are served one after the other. */
const PATIENCE = 2_000;
/** How long a place that was given up for nothing counts, in milliseconds: else who comes and goes would end everybody. */
const CHARGED = 10_000;
/** How many may wait, for each that may be at work. */
const WAITING = 4;

/** How many requests may be at work at once. */
export interface Limits {
  perUser: number;
  total: number;
}

/** Who waits for a place. */
interface Waiter extends Place {
  begin: () => void;
}

/**
 * Lets so many requests work at once, so many of them of one user: each holds a lock, a file and buffers for as long as its
 * client takes. Others wait a moment, not many of them either, and are refused. Neither users nor addresses are rare, so all
 * share the places: when none is free, whoever has most gives one to whoever has fewer, and so does a slow one.
 */
export class Admission {
  /** The places of those at work, and of those that one is promised to. */
  private readonly taken = new Places();
  private readonly line = new Places<Waiter>();
  /** Those in the line that a place is promised to: somebody gives way. */
  private readonly promised = new Set<Waiter>();
  /** Places of each user that are at work or promised. */
  private readonly ofUsers = new Tally<number>();
  private working = 0;

  constructor(private readonly limits: Limits) {}

  /**
   * @param work says in its place how it can be ended for the sake of another, if it can
   * @throws {ApiError} TOO_MANY_REQUESTS for the user's own, SERVICE_UNAVAILABLE for those of all
   */
  async during<T>(user: number, request: Request, work: (place: Place) => Promise<T>): Promise<T> {
    const place: Place = holderOf(user, request);
    if (this.working < this.limits.total && this.mayHaveOne(user)) this.take(place);
    else await this.wait(place, request.work?.signal);
    try {
      return await work(place);
    } finally {
      this.leave(place);
    }
  }

  private mayHaveOne(user: number): boolean {
    return this.ofUsers.of(user) < this.limits.perUser;
  }

  private take(place: Place): void {
    this.working++;
    this.reserve(place);
  }

  private reserve(place: Place): void {
    this.taken.add(place);
    this.ofUsers.add(place.user, 1);
  }

  private leave(place: Place): void {
    this.working--;
    this.free(place);
    this.letIn();
  }

  /** It isn't among the taken any more when it was asked to give way. */
  private free(place: Place): void {
    this.taken.remove(place);
    this.ofUsers.add(place.user, -1);
  }

  /** For a place that somebody gave up for it, and that it doesn't take: it counts as its own for a while all the same. */
  private charge(waiter: Waiter): void {
    setTimeout(() => this.free(waiter), CHARGED).unref();
  }

  /** @param signal takes it out of the line */
  private wait(place: Place, signal?: AbortSignal): Promise<void> {
    this.makeRoomInLine(place);
    return new Promise((resolve, reject) => {
      const leaveLine = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', refuse);
        place.giveWay = undefined;
        this.line.remove(waiter);
        return this.promised.delete(waiter);
      };
      const refuse = () => {
        if (leaveLine()) this.charge(waiter);
        reject(this.refusal(place.user));
      };
      const begin = () => {
        if (leaveLine()) this.working++;
        else this.take(waiter);
        resolve();
      };
      const waiter: Waiter = Object.assign(place, { begin, giveWay: refuse });
      const timer = setTimeout(refuse, PATIENCE);
      signal?.addEventListener('abort', refuse, { once: true });
      this.line.add(waiter);
      if (signal?.aborted) refuse();
      else this.claim(waiter);
    });
  }

  /** Those that a place is promised to, and else whoever has fewest: of those the first who came. */
  private letIn(): void {
    while (this.working < this.limits.total) {
      const [promised] = this.promised;
      const next = promised ?? this.neediest();
      if (!next) return;
      next.begin();
    }
  }

  private neediest(): Waiter | undefined {
    let best: Waiter | undefined;
    for (const waiter of this.line) {
      if (this.mayHaveOne(waiter.user) && (!best || this.taken.compare(waiter, best) < 0)) best = waiter;
    }
    return best;
  }

  /** Has somebody give way to it, if that is fair. */
  private claim(waiter: Waiter): void {
    if (!this.mayHaveOne(waiter.user)) return;
    const other = this.taken.forNewcomer(waiter);
    if (!other) return;
    this.taken.remove(other);
    this.promised.add(waiter);
    waiter.giveWay = undefined;
    this.reserve(waiter);
    other.giveWay!();
  }

  private makeRoomInLine(place: Place): void {
    const { perUser, total } = this.limits;
    if (this.line.ofUser(place.user) >= perUser * WAITING) throw this.refusal(place.user);
    if (this.line.size < total * WAITING) return;
    const other = this.line.forNewcomer(place);
    if (!other) throw this.refusal(place.user);
    other.giveWay!();
  }

  private refusal(user: number): ApiError {
    return this.mayHaveOne(user) ? tooManyOfAll() : tooManyOfOne(this.limits.perUser);
  }
}

/** 429 for a user who has too many requests to uploads open. */
export const tooManyOfOne = (limit: number): ApiError =>
  new ApiError('TOO_MANY_REQUESTS', {
    message: 'Too many of your uploads are under way',
    details: `No more than ${limit} at once; go on with this one when another is done`,
    headers: { 'Retry-After': '1' },
  });

/** 503, as for a client that is too slow: what has come counts, and the client goes on from there when it can. */
export const gaveWay = (): ApiError =>
  new ApiError('SERVICE_UNAVAILABLE', {
    message: 'Others wait for a place among the uploads, try again later',
    headers: { Connection: 'close' },
  });

const tooManyOfAll = (): ApiError =>
  new ApiError('SERVICE_UNAVAILABLE', { message: 'Too many uploads are under way, try again later' });
