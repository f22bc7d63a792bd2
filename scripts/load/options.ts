import { parseArgs } from 'node:util';

/** What one run may send at most: its answers are kept until they are verified. */
const MAX_REQUESTS = 2_000_000;

export interface Account {
  username: string;
  password: string;
}

export interface LoadOptions {
  /** The service, without /api. */
  url: string;
  /** Requests a second. */
  rate: number;
  seconds: number;
  /** The first of these seconds, in which the rate rises from nothing. A service that has just started is slow at first. */
  rise: number;
  /** The share of reads, from 0 to 1. */
  reads: number;
  /** Connections that are kept alive. */
  connections: number;
  /** A request that takes longer is slow, in milliseconds from the moment when it was due. */
  slow: number;
  /** The share of requests that may be slow, from 0 to 1. */
  slowShare: number;
  /** How many users to register if there are no accounts. */
  users: number;
  /** Accounts to sign in with. Default: none, so users are registered */
  accounts: Account[];
}

export const HELP = `npm run load -- [options]: sends reads and writes at a fixed rate, and checks every answer.

  --url URL           the service; default: LOAD_URL, or http://127.0.0.1:3000
  --rate N            requests a second, whether or not the service keeps up; default: 100
  --minutes N         how long; default: 1
  --rise N            the seconds at the beginning in which the rate rises from nothing; default: 0
  --reads N           the share of reads in percent; default: 80
  --connections N     connections that are kept alive; default: 100
  --slow N            milliseconds after which a request is slow; default: 1000
  --slow-share N      how many requests may be slow, in percent; default: 1
  --users N           how many users to register, if LOAD_ACCOUNTS is not set; default: 10

LOAD_ACCOUNTS=name:password,name:password signs in with these accounts instead. Ctrl-C ends the run early, with its report.
The exit code is 1 if something was lost, doubled, wrong or left without an answer, or if too much was slow.
`;

/** @throws {Error} with a message for the caller */
export function readOptions(args: string[], environment: NodeJS.ProcessEnv): LoadOptions | 'help' {
  const { values } = parseArgs({
    args,
    options: {
      help: { type: 'boolean' },
      url: { type: 'string', default: environment.LOAD_URL ?? 'http://127.0.0.1:3000' },
      rate: { type: 'string', default: '100' },
      minutes: { type: 'string', default: '1' },
      rise: { type: 'string', default: '0' },
      reads: { type: 'string', default: '80' },
      connections: { type: 'string', default: '100' },
      slow: { type: 'string', default: '1000' },
      'slow-share': { type: 'string', default: '1' },
      users: { type: 'string', default: '10' },
    },
  });
  if (values.help) return 'help';
  const options: LoadOptions = {
    url: urlOf(values.url),
    rate: numberOf('--rate', values.rate, 0.1, 10_000),
    seconds: 60 * numberOf('--minutes', values.minutes, 0.01, 600),
    rise: numberOf('--rise', values.rise, 0, 600),
    reads: numberOf('--reads', values.reads, 0, 100) / 100,
    connections: numberOf('--connections', values.connections, 1, 5_000),
    slow: numberOf('--slow', values.slow, 1, 60_000),
    slowShare: numberOf('--slow-share', values['slow-share'], 0, 100) / 100,
    users: numberOf('--users', values.users, 1, 100),
    accounts: accountsOf(environment.LOAD_ACCOUNTS),
  };
  if (options.rate * options.seconds > MAX_REQUESTS) {
    throw new Error(`A run sends at most ${MAX_REQUESTS} requests: lower --rate or --minutes`);
  }
  return options;
}

function numberOf(name: string, text: string, min: number, max: number): number {
  const number = Number(text);
  if (text.trim() === '' || !(number >= min && number <= max)) {
    throw new Error(`${name} must be a number from ${min} to ${max}`);
  }
  return number;
}

function urlOf(text: string): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    throw new Error('--url must be a URL of http or https, such as https://staging.example.com');
  }
  return text.replace(/\/+$/, '');
}

function accountsOf(text = ''): Account[] {
  const pairs = text.split(',').filter((pair) => pair !== '');
  return pairs.map((pair) => {
    const [username, ...password] = pair.split(':');
    if (!username || password.length === 0) throw new Error('LOAD_ACCOUNTS must be name:password,name:password');
    return { username, password: password.join(':') };
  });
}
