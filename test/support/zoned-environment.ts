import type { EnvironmentContext, JestEnvironmentConfig } from '@jest/environment';
import { TestEnvironment } from 'jest-environment-node';

/**
 * Runs a test file in the time zone of `@jest-environment-options {"timeZone": "..."}`. The whole process is in that
 * zone.
 */
export default class ZonedEnvironment extends TestEnvironment {
  private readonly zoneBefore = process.env.TZ;

  constructor(config: JestEnvironmentConfig, context: EnvironmentContext) {
    process.env.TZ = config.projectConfig.testEnvironmentOptions.timeZone as string;
    super(config, context);
  }

  override async teardown(): Promise<void> {
    await super.teardown();
    if (this.zoneBefore === undefined) delete process.env.TZ;
    else process.env.TZ = this.zoneBefore;
  }
}
