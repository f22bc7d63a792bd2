import { EventEmitter } from 'node:events';
import { propagation, trace, TraceFlags } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  ParentBasedSampler,
  SimpleSpanProcessor,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-base';
import type { Request, Response } from 'express';
import { BegunTraces } from '../../../src/platform/traces/begun-traces';
import { FollowedContexts } from '../../../src/platform/traces/followed-contexts';
import { traceRequests } from '../../../src/platform/traces/request-spans';
import { UnitOfWork } from '../../../src/platform/transactions/unit-of-work';

const CALLER = { trace: '0af7651916cd43dd8448eb211c80319c', span: 'b7ad6b7169203331' };

/** Requests that are traced by a share of all, and the spans that were sent. */
function traced(share: number) {
  const sampler = new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(share) });
  const begun = new BegunTraces(sampler);
  const sent = new InMemorySpanExporter();
  const spanProcessors = [new SimpleSpanProcessor(sent)];
  const provider = new BasicTracerProvider({ sampler, idGenerator: begun, spanProcessors });
  const handler = traceRequests(provider.getTracer('test'), begun);
  const receive = (headers: Record<string, string> = {}): Request => {
    const request = { method: 'POST', id: '1', headers } as unknown as Request;
    const response = new EventEmitter() as Response;
    let isPassedOn = false;
    handler(request, response, () => (isPassedOn = true));
    expect(isPassedOn).toBe(true);
    response.emit('close');
    return request;
  };
  return { receive, sent: () => sent.getFinishedSpans().map((span) => span.spanContext()) };
}

describe('The context of a request', () => {
  const contexts = new FollowedContexts();
  /** What two statements of a write find. */
  const spansIn = (request: Request) =>
    new UnitOfWork(undefined, request).run(() => [0, 1].map(() => trace.getSpanContext(contexts.active())));

  beforeAll(() => propagation.setGlobalPropagator(new W3CTraceContextPropagator()));
  afterAll(() => propagation.disable());

  it('is made when a write asks for it if the request is not sampled, with the id that the log has', async () => {
    const { receive, sent } = traced(0);
    const request = receive();
    expect(request.traceId).toMatch(/^[0-9a-f]{32}$/);
    expect(request.traceContext).toBeUndefined();

    const [span, again] = await spansIn(request);
    expect(span).toEqual({
      traceId: request.traceId,
      spanId: expect.stringMatching(/^[0-9a-f]{16}$/) as string,
      traceFlags: TraceFlags.NONE,
    });
    expect(again).toBe(span);
    expect(sent()).toEqual([]);
  });

  it.each([
    [0, false],
    [1, true],
  ])(
    'is followed in a write that goes on behind its answer, if it is sampled: a share of %s',
    async (share, expected) => {
      const { receive } = traced(share);
      const isFollowing = await new UnitOfWork(undefined, receive()).run(() => contexts.isFollowing());
      expect([isFollowing, contexts.isFollowing()]).toEqual([expected, false]);
    },
  );

  it.each([
    ['00', 1, TraceFlags.NONE],
    ['01', 0, TraceFlags.SAMPLED],
  ])('goes on with a trace of the caller whose flags are %s, whatever the share is', async (flags, share, expected) => {
    const { receive, sent } = traced(share);
    const request = receive({ traceparent: `00-${CALLER.trace}-${CALLER.span}-${flags}`, tracestate: 'vendor=1' });
    expect(request.traceId).toBe(CALLER.trace);

    const [span] = await spansIn(request);
    expect(span).toMatchObject({ traceId: CALLER.trace, traceFlags: expected });
    expect(span?.spanId).not.toBe(CALLER.span);
    expect(span?.traceState?.get('vendor')).toBe('1');
    expect(sent()).toHaveLength(expected);
  });

  it('begins a trace instead of one that no traceparent may have', () => {
    const { receive } = traced(0);
    const { traceId } = receive({ traceparent: `00-${'0'.repeat(32)}-${CALLER.span}-01` });
    expect(traceId).toMatch(/^(?!0{32})[0-9a-f]{32}$/);
  });

  it('is that of a span with the same id if the request is sampled, as often as the share says', () => {
    const { receive, sent } = traced(0.5);
    const requests = Array.from({ length: 400 }, () => receive());
    const sampled = requests.filter(({ traceContext }) => traceContext);
    expect(new Set(requests.map(({ traceId }) => traceId)).size).toBe(400);
    expect(sent().map(({ traceId }) => traceId)).toEqual(sampled.map(({ traceId }) => traceId));
    expect(sampled.length).toBeGreaterThan(100);
    expect(sampled.length).toBeLessThan(300);
  });
});
