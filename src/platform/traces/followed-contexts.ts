import { AsyncLocalStorage } from 'node:async_hooks';
import { type Context, type ContextManager, ROOT_CONTEXT, trace, TraceFlags } from '@opentelemetry/api';
import type { RequestHandler } from 'express';
import type { Origin } from '../transactions/origin';
import { UnitOfWork } from '../transactions/unit-of-work';
import { RequestContext } from './request-context';

/**
 * Knows the span of the current asynchronous flow. Following flows costs a seventh of a simple read, so only those of
 * requests are followed that are sampled, as UnitOfWork does with writes. The context of another request that writes is
 * that of its unit of work. A read that isn't sampled has none, so its own requests to others begin new traces (D-257).
 */
export class FollowedContexts implements ContextManager {
  private readonly storage = new AsyncLocalStorage<Context>();
  private followed = 0;

  active(): Context {
    return this.storage.getStore() ?? contextOf(UnitOfWork.current()?.origin) ?? ROOT_CONTEXT;
  }

  /** Whether the current flow is that of a sampled request. */
  isFollowing(): boolean {
    const known = this.storage.getStore() ?? UnitOfWork.current()?.origin?.traceContext;
    return known !== undefined && isSampled(known);
  }

  with<A extends unknown[], F extends (...args: A) => ReturnType<F>>(
    context: Context,
    work: F,
    thisArg?: ThisParameterType<F>,
    ...args: A
  ): ReturnType<F> {
    const call = () => work.apply(thisArg, args);
    return this.followed > 0 && isRecording(context) ? this.storage.run(context, call) : call();
  }

  /** Follows a sampled request until its response is closed. */
  // eslint-disable-next-line no-restricted-syntax -- one for the whole process
  readonly follow: RequestHandler = ({ traceContext }, response, next) => {
    if (!traceContext || !isRecording(traceContext) || response.closed) return next();
    this.followed++;
    response.once('close', () => {
      if (--this.followed === 0) this.storage.disable();
    });
    this.storage.run(traceContext, next);
  };

  bind<T>(context: Context, target: T): T {
    if (typeof target !== 'function' || !isRecording(context)) return target;
    const callback = target as unknown as (...args: unknown[]) => unknown;
    // eslint-disable-next-line @typescript-eslint/no-this-alias
    const contexts = this;
    const bound = function (this: unknown, ...args: unknown[]): unknown {
      return contexts.with(context, callback, this, ...args);
    };
    return bound as unknown as T;
  }

  enable(): this {
    return this;
  }

  disable(): this {
    this.storage.disable();
    return this;
  }
}

/** Makes the context of a request that has the id of its trace alone, because it isn't sampled. */
function contextOf(origin: Origin | undefined): Context | undefined {
  if (origin?.traceId !== undefined) origin.traceContext ??= RequestContext.unsampled(origin.traceId);
  return origin?.traceContext;
}

const isRecording = (context: Context): boolean => trace.getSpan(context)?.isRecording() === true;

/** Also true when the span has ended: what the request has begun may go on. */
const isSampled = (context: Context): boolean =>
  ((trace.getSpanContext(context)?.traceFlags ?? TraceFlags.NONE) & TraceFlags.SAMPLED) !== 0;
