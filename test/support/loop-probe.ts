import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { waitFor } from '../../src/platform/testing';
import type { ServiceProcess } from './service-process';

const PROGRAM = pathToFileURL(resolve(__dirname, 'watch-loop.mjs')).href;

/** Measures how long the event loop of a service is blocked. */
export class LoopProbe {
  private readonly file = join(mkdtempSync(join(tmpdir(), 'resource-api-probe-')), 'longest');

  /** Environment variables that the service needs for it. */
  get environment(): Record<string, string> {
    return { NODE_OPTIONS: `--import=${PROGRAM}`, LOOP_PROBE: this.file };
  }

  /** The longest time that its event loop was blocked during `work`, in milliseconds. */
  async longestDuring(service: ServiceProcess, work: () => Promise<void>): Promise<number> {
    const [before] = this.read();
    service.signal('SIGUSR2');
    await waitFor(() => this.read()[0] > before);
    await work();
    return this.read()[1];
  }

  /** How often the measurement began anew, and the longest time since then. */
  private read(): number[] {
    return existsSync(this.file) ? readFileSync(this.file, 'utf8').split(' ').map(Number) : [0];
  }
}
