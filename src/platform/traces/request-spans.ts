import {
  type Context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
} from '@opentelemetry/api';
import type { Request, RequestHandler, Response } from 'express';
import type { BegunTraces } from './begun-traces';
import { RequestContext } from './request-context';

const SERVER = { kind: SpanKind.SERVER };
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/**
 * Makes a span of each request that is sampled, with the names of OpenTelemetry's conventions for HTTP. A span has the route's
 * pattern instead of the path, which may contain text of the caller.
 */
export const traceRequests =
  (tracer: Tracer, begun: BegunTraces): RequestHandler =>
  (request, response, next) => {
    const parent = parentOf(request);
    if (parent === ROOT_CONTEXT) {
      request.traceId = begun.generateTraceId();
      // The context is made when something asks for it. The property is there at once, so that V8 sees one kind of request.
      request.traceContext = undefined;
      if (!begun.samples(request.traceId, request.method)) return next();
      begun.giveNext(request.traceId);
    }
    const span = tracer.startSpan(request.method, SERVER, parent);
    request.traceId = span.spanContext().traceId;
    request.traceContext = new RequestContext(parent, span);
    if (span.isRecording()) response.once('close', () => end(span, request, response));
    next();
  };

/** Of `traceparent`, which W3C defines. */
function parentOf({ headers }: Request): Context {
  return headers.traceparent === undefined ? ROOT_CONTEXT : propagation.extract(ROOT_CONTEXT, headers);
}

function end(span: Span, request: Request, response: Response): void {
  const isKnown = METHODS.has(request.method);
  const route = routeOf(request);
  const { statusCode, headersSent, writableFinished } = response;
  span.updateName([isKnown ? request.method : 'HTTP', ...(route === undefined ? [] : [route])].join(' '));
  span.setAttributes({
    'http.request.method': isKnown ? request.method : '_OTHER',
    'http.route': route,
    'http.response.status_code': headersSent ? statusCode : undefined,
    'url.scheme': request.protocol,
    'network.protocol.version': request.httpVersion,
    'api.version': request.version,
    'api.request_id': request.id,
  });
  if (statusCode >= 500) fail(span, String(statusCode));
  else if (!writableFinished) fail(span, 'aborted');
  span.end();
}

function fail(span: Span, type: string): void {
  span.setAttribute('error.type', type);
  span.setStatus({ code: SpanStatusCode.ERROR });
}

function routeOf(request: Request): string | undefined {
  const route = request.route as { path: string | RegExp | (string | RegExp)[] } | undefined;
  return route && String(route.path);
}
