import { applyDecorators } from '@nestjs/common';
import { ApiHeader } from '@nestjs/swagger';
import { AlsoAnswers } from '../../platform';
import { MAX_MARK } from './mark';

/** The media type of Server-Sent Events. */
export const EVENTS = 'text/event-stream';

const EXAMPLE = `id: 2n9c-mc4t5q8w
event: change
data: {"type":"products","id":1,"change":"UPDATED","version":2,"at":"2026-01-31T12:00:00.000Z"}

`;

/** Documents the stream of events beside the JSON. */
export const ApiChangeStream = (): MethodDecorator =>
  applyDecorators(
    AlsoAnswers(EVENTS, {
      // Without a type: a text would need a greatest length.
      schema: {
        description:
          'Events `change`, whose data is an item of `changes` as JSON, and comments while nothing happens. It never ends by itself.',
      },
      example: EXAMPLE,
    }),
    ApiHeader({
      name: 'Last-Event-ID',
      required: false,
      description: 'For a stream: the id of the last event, after which it goes on. It goes before `cursor`.',
      schema: { type: 'string', maxLength: MAX_MARK, pattern: '^(now|[0-9a-z]{1,11}-[0-9a-z]{1,9})?$' },
      example: '2n9c-mc4t5q8w',
    }),
  );
