import { setImmediate as turnOfTheLoop, setTimeout as sleep } from 'node:timers/promises';
import { FairLine, TimeLimit } from '../../platform';
import { type Holder, keysOf } from '../places';

/** Bytes of one turn, at most. */
export const TURN = 64 * 1024;
/** How long all uploads rest after a whole turn while others use the service, in milliseconds. */
const REST = 6;
/** For how long somebody who has got an answer counts as using the service, in milliseconds. */
const RECENT = 50;

/** What waits for its turn. */
interface Waiting {
  bytes: number;
  begin: () => void;
}

/**
 * What keeps uploads from taking the event loop for themselves, and from each other: in each turn of it one of them gets to
 * work on some bytes, one network after the other and of each one user after the other, and while there is something else to do
 * they leave most of the time to that. Many bytes are many turns, few bytes a part of one.
 */
export class Turns {
  private static readonly line = new FairLine<Waiting>();
  private static passing = false;
  /** Milliseconds of rest that turns before have not taken. */
  private static owed = 0;

  /** Resolves when it is the holder's turn to work on so many bytes. */
  static async take(holder: Holder, bytes: number): Promise<void> {
    for (let left = bytes; left > 0; left -= TURN) await Turns.wait(holder, Math.min(left, TURN));
  }

  private static wait(holder: Holder, bytes: number): Promise<void> {
    return new Promise((begin) => {
      Turns.line.add({ bytes, begin }, keysOf(holder));
      if (!Turns.passing) void Turns.pass();
    });
  }

  private static async pass(): Promise<void> {
    Turns.passing = true;
    for (let next = Turns.line.next(); next; next = Turns.line.next()) {
      await Turns.rest(next.bytes);
      next.begin();
    }
    Turns.passing = false;
  }

  private static async rest(bytes: number): Promise<void> {
    Turns.owed = TimeLimit.wasAwaited(RECENT) ? Turns.owed + (REST * bytes) / TURN : 0;
    // Timers know whole milliseconds.
    const now = Math.trunc(Turns.owed);
    Turns.owed -= now;
    await (now > 0 ? sleep(now) : turnOfTheLoop());
  }
}
