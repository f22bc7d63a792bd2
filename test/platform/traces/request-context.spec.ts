import { createContextKey, propagation, ROOT_CONTEXT, trace, TraceFlags } from '@opentelemetry/api';
import { RequestContext } from '../../../src/platform/traces/request-context';

const OTHER = createContextKey('other');
const spanOf = (spanId: string) =>
  trace.wrapSpanContext({ traceId: '0af7651916cd43dd8448eb211c80319c', spanId, traceFlags: TraceFlags.NONE });

describe('The context of a request', () => {
  const span = spanOf('b7ad6b7169203331');
  const context = new RequestContext(ROOT_CONTEXT.setValue(OTHER, 'of the parent'), span);

  it('has its span, and the values of its parent', () => {
    expect(trace.getSpan(context)).toBe(span);
    expect(context.getValue(OTHER)).toBe('of the parent');
  });

  it('passes the span on to contexts that are made of it', () => {
    const baggage = propagation.createBaggage({ a: { value: 'b' } });
    const later = propagation.setBaggage(context, baggage);
    expect([trace.getSpan(later), propagation.getBaggage(later)]).toEqual([span, baggage]);
    expect(later.getValue(OTHER)).toBe('of the parent');
    expect(trace.getSpan(context.deleteValue(OTHER))).toBe(span);
    expect(context.deleteValue(OTHER).getValue(OTHER)).toBeUndefined();
  });

  it('gives another span to a context that has another', () => {
    const inner = spanOf('00f067aa0ba902b7');
    expect(trace.getSpan(trace.setSpan(context, inner))).toBe(inner);
    expect(trace.getSpan(trace.deleteSpan(context))).toBeUndefined();
  });
});
