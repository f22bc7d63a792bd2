import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

export interface LoadOptions {
  port: number;
  method: string;
  path: string;
  headers?: Record<string, string>;
  body?: string;
  connections: number;
  /** Whether a connection is used again; otherwise each request has a new one. */
  keepAlive: boolean;
}

export interface LoadReport {
  /** How many answers came whole, by status. */
  answered: Record<number, number>;
  /** How many of them said that they were the last on their connection. */
  closed: number;
  /** How many connections were refused; each ends the work of one of the connections. */
  refused: number;
  /** What became of requests that were not answered whole. */
  lost: string[];
}

/** Load by a process of its own, until the service refuses connections. */
export class Load {
  /** Resolves when a good many requests have been answered. */
  readonly warm: Promise<unknown>;
  readonly report: Promise<LoadReport>;

  private constructor(client: ChildProcess) {
    this.warm = once(client, 'message');
    this.report = new Promise((resolve, reject) => {
      client.on('message', (message: { report?: LoadReport }) => message.report && resolve(message.report));
      client.once('exit', (code) => reject(new Error(`The load client ended with ${code}`)));
    });
  }

  static start(options: LoadOptions): Load {
    return new Load(fork(join(__dirname, 'load-client.mjs'), [JSON.stringify(options)], { execArgv: [] }));
  }
}
