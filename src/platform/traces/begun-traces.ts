import { ROOT_CONTEXT, SpanKind } from '@opentelemetry/api';
import { type IdGenerator, RandomIdGenerator, type Sampler, SamplingDecision } from '@opentelemetry/sdk-trace-base';

/**
 * The ids of traces that begin here, of which the sampler is asked before there is a span. A request that isn't sampled then
 * costs an id for the log, and not a span that nobody sees.
 */
export class BegunTraces implements IdGenerator {
  private readonly random = new RandomIdGenerator();
  private given?: string;

  /** @param sampler that of the provider which uses these ids, so that its decision on an id is the same */
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
