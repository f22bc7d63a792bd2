import { setImmediate as turnOfTheLoop, setTimeout as sleep } from 'node:timers/promises';
import { TimeLimit } from '../../conventions/requests/time-limit';

/** How long all uploads rest after a chunk while others use the service, in milliseconds. */
const REST = 6;
/** For how long somebody who has got an answer counts as using the service, in milliseconds. */
const RECENT = 50;

/**
 * What keeps uploads from taking the event loop for themselves: in each turn of it one of them gets to work on a chunk, and
 * while there is something else to do they leave most of the time to that.
 */
export class Turns {
  private static last = Promise.resolve();

  /** @param chunks that what follows is as much work as */
  static take(chunks = 1): Promise<void> {
    return (Turns.last = Turns.last.then(() =>
      TimeLimit.wasAwaited(RECENT) ? sleep(REST * chunks) : turnOfTheLoop(),
    ));
  }
}
