import { CreateCommentDto } from '../../../src/resources/comments/comment.dto';
import { Comment } from '../../../src/resources/comments/comment.entity';
import type { Fixtures } from '../fixtures';
import { on, plain } from '../prepared-request';
import { common, each, type Resource } from '../resource';
import { onlyText, someText } from '../written-text';

const post = (own: Fixtures) => own.post();
const comment = (own: Fixtures) => own.comment();
const asComments = {
  table: 'comments',
  attributes: [...common, 'post_id', 'user_id', 'content'],
  sortable: Comment,
  statuses: [],
  textsOf: ({ content }: Record<string, never>) => [content],
};
export const comments: Resource = {
  noun: 'comments',
  requests: {
    'GET /api/v1/posts/:id/comments': on(post),
    'POST /api/v1/posts/:id/comments': on(post, someText),
    'GET /api/v1/comments': plain,
    'GET /api/v1/comments/:id': on(comment),
    'PUT /api/v1/comments/:id': on(comment, someText),
    'PATCH /api/v1/comments/:id': on(comment, someText),
    'DELETE /api/v1/comments/:id': on(comment),
  },
  writable: {
    input: CreateCommentDto,
    ...onlyText,
    place: async (own) => ({ path: `/posts/${(await own.post()).id}/comments` }),
  },
  collections: [
    {
      ...asComments,
      name: '/comments',
      async fill(own, others, lines) {
        const posts = [await own.post(), await others.post()];
        await each(lines, ({ text, index, even, dates }) =>
          (even ? own : others).comment({ content: text, ...dates }, posts[index % 2]),
        );
      },
    },
    {
      ...asComments,
      name: '/posts/{id}/comments',
      async fill(own, others, lines) {
        const [here, elsewhere] = [await own.post(), await own.post()];
        await each(lines, async ({ text, dates }) => {
          await own.comment({ content: text, ...dates }, here);
          await others.comment({ content: text, ...dates }, elsewhere);
        });
        return { path: `/posts/${here.id}/comments`, where: `post_id = ${here.id}` };
      },
    },
  ],
};
