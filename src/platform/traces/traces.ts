import { setTimeout as sleep } from 'node:timers/promises';
import { context, diag, DiagLogLevel, propagation, trace } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { registerInstrumentations } from '@opentelemetry/instrumentation';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
// The library reads OTEL_TRACES_SAMPLER here, and doesn't export it: without this file the start fails.
import { buildSamplerFromEnv } from '@opentelemetry/sdk-trace-base/build/src/config';
import type { RequestHandler } from 'express';
import { seconds } from '../units';
import { BegunTraces } from './begun-traces';
import { FollowedContexts } from './followed-contexts';
import { instrumentations } from './instrumentations';
import { traceRequests } from './request-spans';

const NAME = 'resource-api';
/** How long the end of the service waits until the last spans are sent, in milliseconds. */
const PATIENCE = seconds(5);

/**
 * Traces by OpenTelemetry. The standard variables set the rest: the sampler, the name of the service, headers, time limits;
 * see docs/operations.md.
 */
export class Traces {
  /** Begins and ends the span of each request. */
  readonly requests: RequestHandler;
  /** Puts what follows into the span of the request. A request that waits for its turn before would lose it. */
  readonly follow: RequestHandler;
  private readonly provider: BasicTracerProvider;

  constructor() {
    // Once a wrong variable or a receiver that is away is told on the standard error output.
    diag.setLogger({ ...SILENT, error: tellOnce() }, { logLevel: DiagLogLevel.ERROR, suppressOverrideMessage: true });
    const resource = defaultResource()
      .merge(resourceFromAttributes({ 'service.name': NAME }))
      .merge(detectResources({ detectors: [envDetector] }));
    const spanProcessors = [new BatchSpanProcessor(new OTLPTraceExporter())];
    const sampler = buildSamplerFromEnv();
    const begun = new BegunTraces(sampler);
    this.provider = new BasicTracerProvider({ resource, spanProcessors, sampler, idGenerator: begun });
    const contexts = new FollowedContexts();
    trace.setGlobalTracerProvider(this.provider);
    context.setGlobalContextManager(contexts);
    propagation.setGlobalPropagator(new W3CTraceContextPropagator());
    registerInstrumentations({ instrumentations: instrumentations(contexts), tracerProvider: this.provider });
    this.requests = traceRequests(this.provider.getTracer(NAME), begun);
    this.follow = contexts.follow;
  }

  /** Sends what was not sent yet. */
  async end(): Promise<void> {
    const isOver = new AbortController();
    await Promise.race([
      this.provider.shutdown().catch(() => undefined),
      sleep(PATIENCE, undefined, isOver).catch(() => undefined),
    ]);
    isOver.abort();
  }
}

const nothing = (): void => undefined;
const SILENT = { warn: nothing, info: nothing, debug: nothing, verbose: nothing };

function tellOnce(): (message: string) => void {
  let told = false;
  return (message) => {
    if (!told) process.stderr.write(`Traces: ${message.slice(0, 500)}\n`);
    told = true;
  };
}
