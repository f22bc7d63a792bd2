import { Injectable } from '@nestjs/common';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { Settings } from '../config/settings';
import { inBackground } from '../transactions/in-background';

type Work = (this: unknown, ...values: unknown[]) => unknown;

/** Where the packages of Nest, which the service itself doesn't need, keep what is a job. */
const SCHEDULED_METHOD = 'SCHEDULER_TYPE';
const QUEUE_PROCESSOR = 'bullmq:processor_metadata';
const PROCESS = 'process';
const WRAPPED = 'resource-api:job';

/**
 * Runs jobs of @nestjs/schedule and of @nestjs/bullmq in the background: they belong to no request, so their statements
 * aren't limited by its time. In the constructor, as the packages look for jobs once everything is made.
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
    // Another application of this process, as in a test, may have wrapped it before.
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
