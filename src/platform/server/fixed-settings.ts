import type { Express } from 'express';
import { StartupError } from '../config/startup-error';

const BY_ROUTER =
  'Express reads it when it makes its router, which the application has from its beginning; leave it out';

/** Express settings that the service depends on, each with the alternative to changing it. */
const WAYS_OUT: Record<string, string> = {
  'trust proxy':
    'rate limits, logs and HTTPS depend on it; set TRUST_PROXY in the environment to the number of proxies',
  'query parser':
    'parameters are declared, and validated by what is declared; parse what a route needs in a pipe of its own',
  'case sensitive routing': BY_ROUTER,
  'strict routing': BY_ROUTER,
};

type Set = (name: string, ...value: unknown[]) => unknown;

/** Refuses changes of these settings. */
export class FixedSettings {
  private readonly set: Set;

  constructor(app: Express) {
    this.set = app.set.bind(app) as Set;
    const set: Set = (name, ...value) => {
      if (value.length > 0 && Object.hasOwn(WAYS_OUT, name)) {
        throw new StartupError(`The setting "${name}" of Express can't be changed here: ${WAYS_OUT[name]}.`);
      }
      return this.set(name, ...value);
    };
    Object.assign(app, { set });
  }

  fix(settings: Record<string, unknown>): void {
    for (const [name, value] of Object.entries(settings)) this.set(name, value);
  }
}
