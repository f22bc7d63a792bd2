import { setImmediate as turnOfTheLoop, setTimeout as sleep } from 'node:timers/promises';
import { kibibytes } from '../../platform';
import { FairQueue, TimeLimit } from '../../platform/features';
import { type Holder, keysOf } from '../fair-slots';

/** The greatest number of bytes in one turn. */
export const TURN_BYTES = kibibytes(64);
/** How long all uploads pause after a full turn while other requests are served, in milliseconds. */
const REST_MS = 6;
/** How long after an answer the service counts as used by others, in milliseconds. */
const RECENT_MS = 50;

/** A request that waits for its turn. */
interface Waiting {
  bytes: number;
  begin: () => void;
}

/**
 * Keeps uploads from monopolising the event loop. In each of its turns one upload processes some bytes; networks take
 * turns, and within each network its users. While other requests are served, uploads leave most of the time to them.
 * Many bytes take several turns, few bytes take a part of one.
 */
export class UploadThrottle {
  private static readonly queue = new FairQueue<Waiting>();
  private static passing = false;
  /** Milliseconds of pause that earlier turns still owe. */
  private static owed = 0;

  /** Resolves when the holder may process this number of bytes. */
  static async take(holder: Holder, bytes: number): Promise<void> {
    for (let left = bytes; left > 0; left -= TURN_BYTES) await UploadThrottle.wait(holder, Math.min(left, TURN_BYTES));
  }

  private static wait(holder: Holder, bytes: number): Promise<void> {
    return new Promise((begin) => {
      UploadThrottle.queue.add({ bytes, begin }, keysOf(holder));
      if (!UploadThrottle.passing) void UploadThrottle.pass();
    });
  }

  private static async pass(): Promise<void> {
    UploadThrottle.passing = true;
    for (let next = UploadThrottle.queue.next(); next; next = UploadThrottle.queue.next()) {
      await UploadThrottle.rest(next.bytes);
      next.begin();
    }
    UploadThrottle.passing = false;
  }

  private static async rest(bytes: number): Promise<void> {
    UploadThrottle.owed = TimeLimit.wasAwaited(RECENT_MS) ? UploadThrottle.owed + (REST_MS * bytes) / TURN_BYTES : 0;
    // Timers have whole milliseconds.
    const now = Math.trunc(UploadThrottle.owed);
    UploadThrottle.owed -= now;
    await (now > 0 ? sleep(now) : turnOfTheLoop());
  }
}
