import { BlockList, isIP } from 'node:net';

/** Networks of IPv4 that are no way to a receiver on the internet: the registry of RFC 6890, and what was added since. */
const CLOSED_4 = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24'],
  ...['224.0.0.0/4', '240.0.0.0/4'],
  // The metadata of Azure's machines, at an address that is public.
  '168.63.129.16/32',
];
/** Of IPv6 only global unicast is open, so that link-local, ULA, multicast, NAT64 and IPv4-mapped addresses are closed. */
const OPEN_6 = '2000::/3';
/** What is special within it: protocols with Teredo and ORCHID, documentation, 6to4. */
const CLOSED_6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

const BITS = { ipv4: 32, ipv6: 128 } as const;

type Family = keyof typeof BITS;

const familyOf = (address: string): Family | undefined => (({ 4: 'ipv4', 6: 'ipv6' }) as const)[isIP(address) as 4 | 6];

interface Network {
  address: string;
  prefix: number;
  family: Family;
}

/** Undefined for a text that is no network such as `10.0.0.0/8`. */
function parseNetwork(text: string): Network | undefined {
  const [, address = '', prefix = ''] = /^([\da-fA-F.:]+)\/(\d{1,3})$/.exec(text) ?? [];
  const family = familyOf(address);
  return family && Number(prefix) <= BITS[family] ? { address, prefix: Number(prefix), family } : undefined;
}

const partsOf = (list: string): string[] =>
  list
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean);

/** Whether a text is networks, separated by commas. */
export const areNetworks = (list: unknown): boolean => partsOf(String(list)).every(parseNetwork);

function listOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const text of networks) {
    const { address, prefix, family } = parseNetwork(text)!;
    list.addSubnet(address, prefix, family);
  }
  return list;
}

const closed4 = listOf(CLOSED_4);
const open6 = listOf([OPEN_6]);
const closed6 = listOf(CLOSED_6);

/** Tells which addresses a webhook may be sent to. */
export class Networks {
  private readonly opened: BlockList;

  /** @param opened networks that are open although they are not the internet, separated by commas */
  constructor(opened = '') {
    this.opened = listOf(partsOf(opened));
  }

  /** False for everything that is no address, too. */
  allows(address: string): boolean {
    const family = familyOf(address);
    if (!family) return false;
    if (this.opened.check(address, family)) return true;
    if (family === 'ipv4') return !closed4.check(address, family);
    return open6.check(address, family) && !closed6.check(address, family);
  }
}
