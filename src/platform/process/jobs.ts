import { Injectable } from '@nestjs/common';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { Settings } from '../config/settings';
import { inBackground } from '../transactions/in-background';

type Work = (this: unknown, ...values: unknown[]) => unknown;

/** The metadata keys of job packages. The service itself doesn't depend on these packages. */
const SCHEDULED_METHOD = 'SCHEDULER_TYPE';
const QUEUE_PROCESSOR = 'bullmq:processor_metadata';
const PROCESS = 'process';
const WRAPPED = 'resource-api:job';

/**
 * Runs jobs of @nestjs/schedule and @nestjs/bullmq in the background: a job belongs to no request, so its statements
 * have a limit of their own. Done in the constructor, because the packages look for jobs after all providers are
 * created.
 */
@Injectable()
export class Jobs {
  constructor(
    discovery: DiscoveryService,
    scanner: MetadataScanner,
    private readonly settings: Settings,
  ) {
    for (const { metatype } of [...discovery.getProviders(), ...discovery.getControllers()]) {
      const prototype = metatype?.prototype as Record<string, Work> | undefined;
      if (!prototype) continue;
      const isProcessor = Reflect.hasMetadata(QUEUE_PROCESSOR, metatype as object);
      for (const name of scanner.getAllMethodNames(prototype)) {
        const isJob = (isProcessor && name === PROCESS) || Reflect.hasMetadata(SCHEDULED_METHOD, prototype[name]);
        if (isJob) this.wrap(prototype, name);
      }
    }
  }

  private wrap(prototype: Record<string, Work>, name: string): void {
    const current = prototype[name];
    // Another application of this process, as in tests, may have wrapped the method.
    const work = (Reflect.getMetadata(WRAPPED, current) as Work | undefined) ?? current;
    const { JOB_STATEMENT_TIMEOUT } = this.settings;
    const job: Work = function (...values) {
      return inBackground(() => work.apply(this, values), JOB_STATEMENT_TIMEOUT);
    };
    for (const key of Reflect.getMetadataKeys(work)) Reflect.defineMetadata(key, Reflect.getMetadata(key, work), job);
    Reflect.defineMetadata(WRAPPED, work, job);
    Object.defineProperty(prototype, name, { value: job, writable: true, configurable: true });
  }
}
