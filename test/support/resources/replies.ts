import { CreateReplyDto } from '../../../src/resources/replies/reply.dto';
import { Reply } from '../../../src/resources/replies/reply.entity';
import type { Fixtures } from '../fixtures';
import { on, plain } from '../prepared-request';
import { common, each, type Resource } from '../resource';
import { onlyText, someText } from '../written-text';

const reply = (own: Fixtures) => own.reply();
export const replies: Resource = {
  noun: 'replies',
  requests: {
    'GET /api/v1/replies': plain,
    'GET /api/v1/replies/:id': on(reply),
    'POST /api/v1/replies': async (own) => ({ body: { ...someText, comment_id: (await own.comment()).id } }),
    'PUT /api/v1/replies/:id': on(reply, someText),
    'PATCH /api/v1/replies/:id': on(reply, someText),
    'DELETE /api/v1/replies/:id': on(reply),
  },
  writable: {
    input: CreateReplyDto,
    ...onlyText,
    place: async (own) => ({ path: '/replies', also: { comment_id: (await own.comment()).id } }),
  },
  collections: [
    {
      name: '/replies',
      table: 'replies',
      attributes: [...common, 'comment_id', 'user_id', 'content'],
      sortable: Reply,
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
