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
  /** Whether connections are reused. Otherwise each request has a new one. */
  keepAlive: boolean;
}

export interface LoadReport {
  /** The number of complete answers by status. */
  answered: Record<number, number>;
  /** The number of answers that announced the end of their connection. */
  closed: number;
  /** The number of refused connections. Each ends one of the parallel clients. */
  refused: number;
  /** The reasons of incomplete answers. */
  lost: string[];
}

/** Load from a process of its own, until the service refuses connections. */
export class Load {
  /** Resolves when many requests have been answered. */
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
