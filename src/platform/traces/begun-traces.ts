import { ROOT_CONTEXT, SpanKind } from '@opentelemetry/api';
import { type IdGenerator, RandomIdGenerator, type Sampler, SamplingDecision } from '@opentelemetry/sdk-trace-base';

/**
 * Gives an id to each trace that begins here, and asks the sampler by that id before there is a span. A request that isn't
 * sampled then costs an id for the log, and no span that nobody sees.
 */
export class BegunTraces implements IdGenerator {
  private readonly random = new RandomIdGenerator();
  private given?: string;

  /** @param sampler the sampler of the provider that uses these ids, so that both decide the same on an id */
  constructor(private readonly sampler: Sampler) {}

  samples(traceId: string, name: string): boolean {
    const { decision } = this.sampler.shouldSample(ROOT_CONTEXT, traceId, name, SpanKind.SERVER, {}, []);
    return decision !== SamplingDecision.NOT_RECORD;
  }

  /** Gives the next trace this id. The span that begins it must be made at once. */
  giveNext(traceId: string): void {
    this.given = traceId;
  }

  generateTraceId(): string {
    const id = this.given ?? this.random.generateTraceId();
    this.given = undefined;
    return id;
  }

  generateSpanId(): string {
    return this.random.generateSpanId();
  }
}
