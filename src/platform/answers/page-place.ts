import type { Response } from 'express';
import { ApiError } from '../errors/api-error';
import { queueKeysOf } from '../limits/client-network';
import { Semaphore } from '../limits/semaphore';
import { reserveMemory } from './unread-answers';

/** The number of pages with large texts that may wait to be read. If there are more, those of the network that has most are 503. */
const MAX_WAITING = 128;
/**
 * One page at a time has its rows in memory, as reading and making them keeps the event loop busy. Smaller pages don't wait for
 * it: they are read at once, and wait in memory until they are made. Whoever has the place may wait for that, nobody the other
 * way round.
 */
const reading = new Semaphore(1, MAX_WAITING);

/**
 * How long an answer may have the place while nothing is read or made for it, in milliseconds. A handler that goes on to
 * other work, or sends its rows as a stream, keeps nobody waiting for longer.
 */
const IDLE = 5_000;

/** The reason for aborting a signal: without one Node creates an error each time. */
const OVER = 'The answer is over';

const places = new WeakMap<Response, PagePlace>();

/**
 * The place of large pages that one answer has, from before its rows are read until its JSON is made. All lists of an answer
 * have it together. It ends with the answer, but never while rows are on their way: a client that leaves could otherwise
 * have many pages read at once.
 */
class PagePlace {
  private readonly ready: Promise<boolean>;
  private free = nothing;
  private users = 0;
  private isOver = false;
  private idle?: NodeJS.Timeout;
  private gone?: AbortController;
  /** Bytes that were reserved for rows that are read. */
  private bytes = 0;

  private constructor(private readonly response: Response) {
    const leave = () => this.leave();
    response.once('close', leave).once('prefinish', leave);
    if (response.closed) leave();
    this.ready = new Promise((resolve, reject) => {
      const hold = (waited: boolean) => {
        resolve(waited);
        if (this.isOver) return Promise.resolve();
        return new Promise<void>((free) => (this.free = free));
      };
      reading
        .run(hold, () => this.signal, queueKeysOf(response.req.ip))
        .catch((error: Error) => {
          this.leave();
          reject(error);
        });
    });
  }

  static of(response: Response): PagePlace {
    let place = places.get(response);
    if (!place) {
      place = new PagePlace(response);
      if (!place.isOver) places.set(response, place);
    }
    return place;
  }

  /** @param work told whether it has waited long @throws {ServiceUnavailableException} when too many wait */
  async use<T>(work: (waitedLong: boolean) => Promise<T>): Promise<T> {
    const waitedLong = await this.ready;
    // Between the turn and this, which is no time, the client may leave.
    if (this.isOver) throw new ApiError('SERVICE_UNAVAILABLE', { message: 'Nobody waits for the page any more' });
    clearTimeout(this.idle);
    this.users++;
    try {
      return await work(waitedLong);
    } finally {
      this.users--;
      if (this.isOver) this.freeUnused();
      else if (this.users === 0) this.idle = setTimeout(() => this.leave(), IDLE).unref();
    }
  }

  /** Reserves memory for further rows. @throws {ApiError} SERVICE_UNAVAILABLE when clients leave too much unread */
  reserve(bytes: number): void {
    reserveMemory(this.response, this.bytes + bytes);
    this.bytes += bytes;
  }

  /** Called when rows could not be read. What others of the answer have read keeps the place. */
  giveUp(bytes: number): void {
    this.bytes -= bytes;
    if (!this.isOver) reserveMemory(this.response, this.bytes);
    if (this.users === 0) this.leave();
  }

  /** Aborted when the answer is over. Asked for only where it waits. */
  private get signal(): AbortSignal {
    this.gone = new AbortController();
    if (this.isOver) this.gone.abort(OVER);
    return this.gone.signal;
  }

  leave(): void {
    this.isOver = true;
    this.gone?.abort(OVER);
    clearTimeout(this.idle);
    if (places.get(this.response) === this) places.delete(this.response);
    this.freeUnused();
  }

  private freeUnused(): void {
    if (this.users === 0) this.free();
  }
}

/**
 * Reads rows for an answer in the place of large pages, which the answer keeps: nobody else's are read or made meanwhile.
 * Must not be called by whoever holds a connection, as the one who has the place may wait for that.
 * @param bytes the memory that the rows take at most
 * @param read told whether it has waited long
 * @throws {ServiceUnavailableException} when too many wait, or clients leave too much unread
 */
export async function readInPlace<T>(
  response: Response,
  bytes: number,
  read: (waitedLong: boolean) => Promise<T>,
): Promise<T> {
  const place = PagePlace.of(response);
  let reserved = 0;
  try {
    return await place.use((waitedLong) => {
      place.reserve(bytes);
      reserved = bytes;
      return read(waitedLong);
    });
  } catch (error) {
    place.giveUp(reserved);
    throw error;
  }
}

/** Makes an answer. If it has the place of large pages, it leaves that then. */
export async function makeInPlace(response: Response, make: () => Promise<void>): Promise<void> {
  const place = places.get(response);
  if (!place) return make();
  try {
    await place.use(make);
  } finally {
    place.leave();
  }
}

/** True for an answer that has the place, or waits for it. */
export const hasPlace = (response: Response): boolean => places.has(response);

/** For an answer that was made otherwise, or won't be. */
export const leavePlace = (response: Response): void => places.get(response)?.leave();

const nothing = (): void => undefined;
