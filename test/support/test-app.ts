import { hours } from '../../src/platform';
import { TestApp, type TestAppOptions } from '../../src/platform/testing';
import { DeliveryTimes } from '../../src/resources/webhooks/deliverer';
import { SweepTimes } from '../../src/uploads/upload-sweep';
import { AppModule } from './application';

const NO_LIMIT = String(Number.MAX_SAFE_INTEGER);
/** Between two looks for deliveries of webhooks, in milliseconds. Each step of a test waits for one. */
const DELIVER_INTERVAL = 100;
/** All callers of a test have the same address. */
const LIMITS_OF_ADDRESSES = {
  LOGIN_ADDRESS_LIMIT: NO_LIMIT,
  REGISTRATION_RATE_LIMIT: NO_LIMIT,
  RENAME_RATE_LIMIT: NO_LIMIT,
  WRITE_QUOTA: '0',
};

export interface AppOptions extends TestAppOptions {
  /** The delay of the first sweep of uploads in milliseconds. Default: an hour, because tests make old uploads */
  sweepAfter?: number;
  /** The delay of the first look for deliveries of webhooks in milliseconds. Default: an hour, because they change rows */
  deliverAfter?: number;
}

/** Starts the application of this project. */
export function startApp(all: AppOptions = {}): Promise<TestApp> {
  const { settings, sweepAfter = hours(1), deliverAfter = hours(1), override, ...options } = all;
  return TestApp.start(AppModule, {
    ...options,
    settings: { ...LIMITS_OF_ADDRESSES, ...settings },
    override: (builder) => {
      const seldom = builder
        .overrideProvider(SweepTimes)
        .useValue({ first: sweepAfter, interval: hours(1) })
        .overrideProvider(DeliveryTimes)
        .useValue({ ...new DeliveryTimes(), first: deliverAfter, interval: DELIVER_INTERVAL });
      return override?.(seldom) ?? seldom;
    },
  });
}
