import type { RequestOptions } from 'node:http';
import type { Instrumentation, InstrumentationNodeModuleDefinition } from '@opentelemetry/instrumentation';
import { AwsInstrumentation } from '@opentelemetry/instrumentation-aws-sdk';
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';
import { IORedisInstrumentation } from '@opentelemetry/instrumentation-ioredis';
import { PgInstrumentation } from '@opentelemetry/instrumentation-pg';
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici';
import { traceReceivers } from '../config/trace-settings';
import { isUntraced } from './untraced';

/**
 * Statements, Redis, S3, and requests to other services, which get `traceparent`, unless they are `untraced`. Each
 * belongs to a span of a request: jobs have none. Values of statements and of Redis aren't recorded, since they may be secret.
 */
export function instrumentations(): Instrumentation[] {
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
    new StatementInstrumentation({ requireParentSpan: true, ignoreConnectSpans: true }),
    new IORedisInstrumentation({ requireParentSpan: true, dbStatementSerializer: (command) => command }),
    new AwsInstrumentation(),
  ];
}

/**
 * Traces statements alone. The pool's own instrumentation would count connections at each statement, for metrics of
 * OpenTelemetry, which has no reader here: `/metrics` has its own.
 */
class StatementInstrumentation extends PgInstrumentation {
  protected override init(): InstrumentationNodeModuleDefinition[] {
    return super.init().filter(({ name }) => name !== 'pg-pool');
  }
}
