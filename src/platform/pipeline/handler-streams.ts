import { RouterExecutionContext } from '@nestjs/core/router/router-execution-context';
import { isStreamingBody } from '@nestjs/core/router/streaming-body';

type PickStreamingBody = (result: unknown, handlerStreams?: unknown[]) => unknown;

const nest = RouterExecutionContext.prototype as unknown as { pickStreamingBody: PickStreamingBody };
const pick = nest.pickStreamingBody;

/**
 * Nest asks of each result whether it is a plain object, by the source text of its class, in case it holds a stream of
 * the handler. A handler without streams isn't asked: that takes 1 % of GET /users/{id}.
 */
nest.pickStreamingBody = function (result, handlerStreams) {
  if (handlerStreams?.length !== 0) return pick.call(this, result, handlerStreams);
  return isStreamingBody(result) ? result : undefined;
};
