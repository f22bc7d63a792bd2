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

/**
 * Matches the text of a class that logs: `new Logger(...)`, `PinoLogger`, `this.logger.warn(...)`, `logger.log(...)`.
 */
const LOGGER = /logger/i;

const PLATFORM: unknown[] = [AuthModule, PipelineModule];

/** Runs a handler within the unit of work of its request. */
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
 * Adds the request and its caller to log lines that are written while a read is handled. Other methods have a unit of
 * work anyway. For reads it costs a seventh of the throughput, so it is only done for controllers that mention a
 * logger, themselves or in a class that is injected. The platform's own lines name their request themselves.
 */
@Injectable()
export class FollowedReads {
  /** The classes of providers, by injection token. */
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

/** True if the provider is a class instead of a factory. */
const isMadeOfClass = ({ inject, metatype }: Provider): boolean =>
  inject === undefined && typeof metatype === 'function';

/** The tokens that a class injects by its constructor and its properties. */
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
  // Another application of this process, as in tests, may have added the interceptor.
  if (before.some((one) => one instanceof Followed)) return;
  Reflect.defineMetadata(INTERCEPTORS_METADATA, [new Followed(), ...before], controller);
}
