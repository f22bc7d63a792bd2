import type { Belongings } from '../belongings';
import { on, plain } from '../prepared-request';
import { common, each, type Resource } from '../resource';
import { text } from '../values';

const someText = { content: 'Some other text.' };
let texts = 0;

const reply = (own: Belongings) => own.reply();
export const replies: Resource = {
  noun: 'replies',
  requests: {
    'GET /api/v1/replies': plain,
    'GET /api/v1/replies/:id': on(reply),
    'POST /api/v1/replies': async (own) => ({ body: { ...someText, comment_id: (await own.comment()).id } }),
    'PATCH /api/v1/replies/:id': on(reply, someText),
    'DELETE /api/v1/replies/:id': on(reply),
  },
  writable: {
    attributes: { content: text({ min: 1, max: 5_000, multiline: true }) },
    required: ['content'],
    defaults: {},
    replaceable: false,
    least: () => ({ content: `Text ${++texts}.` }),
    place: async (own) => ({ path: '/replies', also: { comment_id: (await own.comment()).id } }),
  },
  collections: [
    {
      name: '/replies',
      table: 'replies',
      attributes: [...common, 'comment_id', 'user_id', 'content'],
      sortable: [...common, 'comment_id', 'user_id'],
      statuses: [],
      textsOf: ({ content }) => [content],
      async fill(own, others, lines) {
        const parents = [await own.comment(), await others.comment()];
        await each(lines, ({ text, index, even, dates }) =>
          (even ? own : others).reply({ content: text, ...dates }, parents[index % 2]),
        );
      },
    },
  ],
};
