import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import {
  INTERCEPTORS_METADATA,
  PARAMTYPES_METADATA,
  PROPERTY_DEPS_METADATA,
  SELF_DECLARED_DEPS_METADATA,
} from '@nestjs/common/constants';
import { DiscoveryService } from '@nestjs/core';
import type { Request } from 'express';
import { Observable } from 'rxjs';
import { AuthModule } from '../auth/auth.module';
import { PipelineModule } from '../pipeline/pipeline.module';
import { UnitOfWork } from '../transactions/unit-of-work';

/** As class text has it: `new Logger(...)`, `PinoLogger`, `this.logger.warn(...)`, `logger.log(...)`. */
const LOGGER = /logger/i;

const PLATFORM: unknown[] = [AuthModule, PipelineModule];

/** As long as the handler runs, all that it starts belongs to the unit of work of its request. */
class Followed implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler<unknown>): Observable<unknown> {
    if (context.getType() !== 'http' || UnitOfWork.current()) return next.handle();
    const { work } = context.switchToHttp().getRequest<Request>();
    if (!work) return next.handle();
    return new Observable((subscriber) => {
      const whole = () => new Promise<void>((end) => next.handle().subscribe(subscriber).add(end));
      void work.run(whole);
    });
  }
}

type Provider = ReturnType<DiscoveryService['getProviders']>[number];

/**
 * Lines that are logged while a request is handled tell which one it is, and whose. What may write is followed anyway; for a read
 * that would cost a seventh, so it is done where a controller, or something that it is given, speaks of a logger. What the
 * platform logs names its request itself.
 */
@Injectable()
export class FollowedReads {
  /** What is injected, by its token. */
  private readonly classes: Map<unknown, unknown>;

  constructor(discovery: DiscoveryService) {
    const others = discovery.getProviders().filter(({ host }) => !PLATFORM.includes(host?.metatype));
    this.classes = new Map(others.filter(isMadeOfClass).map(({ token, metatype }) => [token, metatype]));
    for (const { metatype } of discovery.getControllers()) {
      if (metatype && this.speaksOfLogger(metatype)) follow(metatype);
    }
  }

  private speaksOfLogger(type: object, seen = new Set<object>()): boolean {
    if (seen.has(type)) return false;
    seen.add(type);
    if (LOGGER.test(Function.prototype.toString.call(type))) return true;
    const parent = Object.getPrototypeOf(type) as object | null;
    if (parent && parent !== Function.prototype && this.speaksOfLogger(parent, seen)) return true;
    const given = tokensOf(type).map((token) => this.classes.get(token));
    return given.some((one) => typeof one === 'function' && this.speaksOfLogger(one, seen));
  }
}

/** Rather than by a factory. */
const isMadeOfClass = ({ inject, metatype }: Provider): boolean =>
  inject === undefined && typeof metatype === 'function';

/** What a class is given, in its constructor and its properties. */
function tokensOf(type: object): unknown[] {
  const read = (key: string) => (Reflect.getMetadata(key, type) as unknown[] | undefined) ?? [];
  const named = read(SELF_DECLARED_DEPS_METADATA) as { param: unknown }[];
  const properties = read(PROPERTY_DEPS_METADATA) as { type: unknown }[];
  const tokens = [...named.map(({ param }) => param), ...properties.map((one) => one.type)];
  return [...read(PARAMTYPES_METADATA), ...tokens].map((token) => (isReference(token) ? token.forwardRef() : token));
}

const isReference = (token: unknown): token is { forwardRef: () => unknown } =>
  typeof (token as { forwardRef?: unknown } | undefined)?.forwardRef === 'function';

function follow(controller: object): void {
  const before = (Reflect.getMetadata(INTERCEPTORS_METADATA, controller) as unknown[] | undefined) ?? [];
  // Another application of this process, as in a test, may have done it.
  if (before.some((one) => one instanceof Followed)) return;
  Reflect.defineMetadata(INTERCEPTORS_METADATA, [new Followed(), ...before], controller);
}
