import type { RequestOptions } from 'node:http';
import type { Instrumentation, InstrumentationNodeModuleDefinition } from '@opentelemetry/instrumentation';
import { AwsInstrumentation } from '@opentelemetry/instrumentation-aws-sdk';
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';
import { IORedisInstrumentation } from '@opentelemetry/instrumentation-ioredis';
import { PgInstrumentation } from '@opentelemetry/instrumentation-pg';
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici';
import { traceReceivers } from '../config/trace-settings';
import type { FollowedContexts } from './followed-contexts';
import { isUntraced } from './untraced';

/**
 * Statements, Redis, S3, and requests to other services, which get `traceparent`, unless they are `untraced`. Each
 * belongs to a span of a request: jobs have none. Values of statements and of Redis aren't recorded, since they may be secret.
 */
export function instrumentations(contexts: FollowedContexts): Instrumentation[] {
  const receivers = traceReceivers();
  // Otherwise the sending of spans would make spans.
  const isOwn = ({ hostname, host, port }: RequestOptions) => receivers.includes(`${hostname ?? host}:${port}`);
  return [
    new HttpInstrumentation({
      // The spans of incoming requests are made by request-spans.ts, which knows the routes.
      disableIncomingRequestInstrumentation: true,
      requireParentforOutgoingSpans: true,
      ignoreOutgoingRequestHook: (options) => isOwn(options) || isUntraced(options),
    }),
    new UndiciInstrumentation({ requireParentforSpans: true }),
    new StatementInstrumentation(contexts),
    new IORedisInstrumentation({ requireParentSpan: true, dbStatementSerializer: (command) => command }),
    new AwsInstrumentation(),
  ];
}

/**
 * Traces statements alone. The pool's own instrumentation would count connections at each statement, for metrics of
 * OpenTelemetry, which has no reader here: `/metrics` has its own.
 */
class StatementInstrumentation extends PgInstrumentation {
  constructor(private readonly contexts: FollowedContexts) {
    super({ requireParentSpan: true, ignoreConnectSpans: true });
  }

  protected override init(): InstrumentationNodeModuleDefinition[] {
    const [driver] = super.init().filter(({ name }) => name === 'pg');
    // The files would be patched before the module, and then again with it.
    driver.files = [];
    const { patch } = driver;
    const spared = (module: Driver, version?: string): unknown => this.spare(module, () => patch?.(module, version));
    driver.patch = spared;
    return [driver];
  }

  /** Lets a statement pass as it is where no span is followed: the instrumentation would look at it to find that out. */
  private spare({ Client: { prototype } }: Driver, patch: () => unknown): unknown {
    const { query } = prototype;
    const patched = patch();
    const { query: traced } = prototype;
    const isFollowing = () => this.contexts.isFollowing();
    const chosen: Query = function (...parameters) {
      return (isFollowing() ? traced : query).apply(this, parameters);
    };
    prototype.query = chosen;
    return patched;
  }
}

type Query = (this: unknown, ...parameters: unknown[]) => unknown;

interface Driver {
  Client: { prototype: { query: Query } };
}
