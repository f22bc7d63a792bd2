import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { Injectable } from '@nestjs/common';

/** For how long one question waits, in milliseconds, and how often it is asked. */
const PATIENCE = 2_000;
const TRIES = 2;
/** The address of this machine, whatever a name server says (RFC 6761, 6.3). */
const LOOPBACK = ['127.0.0.1', '::1'];

/**
 * Finds the addresses of a host. It asks the name servers itself: `dns.lookup()` would keep a thread of the pool that files
 * and passwords need, for as long as a receiver's name server wants.
 */
@Injectable()
export class NameServer {
  /** @returns no address if there is none, or no name server has answered */
  async addressesOf(host: string, signal: AbortSignal): Promise<string[]> {
    if (isIP(host)) return [host];
    if (host === 'localhost' || host.endsWith('.localhost')) return LOOPBACK;
    const resolver = new Resolver({ timeout: PATIENCE, tries: TRIES });
    const cancel = () => resolver.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    try {
      const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
      return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  }
}
