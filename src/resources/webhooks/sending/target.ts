import { isIP } from 'node:net';
import type { Networks } from './networks';

/** The ports of other protocols are below this one. A receiver has that of its scheme, or a port of its own above. */
const FIRST_OWN_PORT = 1_024;

/** The host of a URL as an address or a name. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, '$1');

export interface TargetRules {
  networks: Networks;
  /** Whether http is a scheme to send by, besides https. */
  plain: boolean;
}

/** What is wrong with the URL of a receiver, as far as the URL tells; undefined if nothing is. */
export function wrongTarget(text: string, { networks, plain }: TargetRules): string | undefined {
  if (!URL.canParse(text)) return 'must be a URL';
  const url = new URL(text);
  if (url.protocol !== 'https:' && !(plain && url.protocol === 'http:')) return 'must begin with https://';
  if (url.username || url.password) return 'must not have a user name or password';
  if (url.port !== '' && Number(url.port) < FIRST_OWN_PORT) return `must not have a port below ${FIRST_OWN_PORT}`;
  if (url.hash) return 'must not have a fragment';
  const host = hostOf(url);
  if (isIP(host) && !networks.allows(host)) return 'must not be an address of a network that is closed to webhooks';
  return undefined;
}
