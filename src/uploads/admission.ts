import type { Request } from 'express';
import { ApiError } from '../platform';
import { rateLimited, Tally } from '../platform/features';
import { FairSlots, holderOf, type Slot, type UserKey } from './fair-slots';
import { tooManyOfAll } from './upload-errors';
import { type Kind, underWay } from './upload-measures';

/**
 * How long a request may wait for a slot, in milliseconds: short requests that arrive together are served one after the
 * other.
 */
const MAX_WAIT_MS = 2_000;
/**
 * How long an unused slot that somebody was preempted for still counts, in milliseconds. Otherwise a client that comes
 * and goes would end everybody's requests.
 */
const CHARGED_MS = 10_000;
/** The number of requests that may wait, for each slot. */
const WAITING_PER_SLOT = 4;

/** The number of requests that may run at once. */
export interface Limits {
  perUser: number;
  total: number;
}

/** A request that waits for a slot. */
interface Waiter extends Slot {
  begin: () => void;
}

/**
 * Limits how many requests run at once, in total and per user: each holds a lock, a file and buffers as long as its
 * client takes. A few others wait a moment, and the rest is refused. Users and addresses are cheap, so all slots are
 * shared: when none is free, a request of the holder of most slots, or a slow request, is preempted for a newcomer with
 * fewer slots.
 */
export class Admission {
  /** The slots in use, and those that are promised to a waiting request. */
  private readonly taken = new FairSlots();
  private readonly queue = new FairSlots<Waiter>();
  /** Waiting requests that a slot is promised to, because another request was preempted. */
  private readonly promised = new Set<Waiter>();
  /** The number of slots in use or promised, by user. */
  private readonly ofUsers = new Tally<UserKey>();
  private working = 0;

  /** @param kind what the requests do, for metrics */
  constructor(
    private readonly limits: Limits,
    private readonly kind: Kind,
  ) {}

  /**
   * @param work sets `preempt` of its slot if it can be ended for another request; is told whether it has waited
   * @throws {ApiError} TOO_MANY_REQUESTS for the limit per user, SERVICE_UNAVAILABLE for the total
   */
  async during<T, U extends UserKey>(
    user: U,
    request: Request,
    work: (place: Slot<U>, waited: boolean) => Promise<T>,
  ): Promise<T> {
    const place: Slot<U> = holderOf(user, request);
    const waits = this.working >= this.limits.total || !this.mayHaveOne(user);
    if (waits) await this.wait(place, request.work?.signal);
    else this.take(place);
    underWay.add({ kind: this.kind });
    try {
      return await work(place, waits);
    } finally {
      underWay.add({ kind: this.kind }, -1);
      this.leave(place);
    }
  }

  private mayHaveOne(user: UserKey): boolean {
    return this.ofUsers.of(user) < this.limits.perUser;
  }

  private take(place: Slot): void {
    this.working++;
    this.reserve(place);
  }

  private reserve(place: Slot): void {
    this.taken.add(place);
    this.ofUsers.add(place.user, 1);
  }

  private leave(place: Slot): void {
    this.working--;
    this.free(place);
    this.letIn();
  }

  /** A preempted slot was removed before. */
  private free(place: Slot): void {
    this.taken.remove(place);
    this.ofUsers.add(place.user, -1);
  }

  /**
   * For a waiting request that leaves although another was preempted for it: the slot counts as its own for a while.
   */
  private charge(waiter: Waiter): void {
    setTimeout(() => this.free(waiter), CHARGED_MS).unref();
  }

  /** @param signal removes the request from the queue */
  private wait(place: Slot, signal?: AbortSignal): Promise<void> {
    this.makeRoomInQueue(place);
    return new Promise((resolve, reject) => {
      const leaveQueue = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', refuse);
        place.preempt = undefined;
        this.queue.remove(waiter);
        return this.promised.delete(waiter);
      };
      const refuse = () => {
        if (leaveQueue()) this.charge(waiter);
        reject(this.refusal(place.user));
      };
      const begin = () => {
        if (leaveQueue()) this.working++;
        else this.take(waiter);
        resolve();
      };
      const waiter: Waiter = Object.assign(place, { begin, preempt: refuse });
      const timer = setTimeout(refuse, MAX_WAIT_MS);
      signal?.addEventListener('abort', refuse, { once: true });
      this.queue.add(waiter);
      if (signal?.aborted) refuse();
      else this.claim(waiter);
    });
  }

  /**
   * Starts waiting requests: first those with a promised slot, then the one whose network and user have fewest slots,
   * the earliest first.
   */
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
    for (const waiter of this.queue) {
      if (this.mayHaveOne(waiter.user) && (!best || this.taken.compare(waiter, best) < 0)) best = waiter;
    }
    return best;
  }

  /** Preempts a running request for a waiting one, if that is fair. */
  private claim(waiter: Waiter): void {
    if (!this.mayHaveOne(waiter.user)) return;
    const other = this.taken.forNewcomer(waiter);
    if (!other) return;
    this.taken.remove(other);
    this.promised.add(waiter);
    waiter.preempt = undefined;
    this.reserve(waiter);
    other.preempt!();
  }

  private makeRoomInQueue(place: Slot): void {
    const { perUser, total } = this.limits;
    if (this.queue.ofUser(place.user) >= perUser * WAITING_PER_SLOT) throw this.refusal(place.user);
    if (this.queue.size < total * WAITING_PER_SLOT) return;
    const other = this.queue.forNewcomer(place);
    if (!other) throw this.refusal(place.user);
    other.preempt!();
  }

  private refusal(user: UserKey): ApiError {
    if (this.mayHaveOne(user)) return tooManyOfAll();
    rateLimited.add({ limit: 'uploads under way' });
    return tooManyOfUser(this.limits.perUser);
  }
}

/** 429 for a user with too many open upload requests. */
export const tooManyOfUser = (limit: number): ApiError =>
  new ApiError('TOO_MANY_REQUESTS', {
    message: 'Too many of your uploads are under way',
    details: `No more than ${limit} at once; go on with this one when another is done`,
    headers: { 'Retry-After': '1' },
  });
