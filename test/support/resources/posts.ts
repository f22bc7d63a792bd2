import { CreatePostDto } from '../../../src/resources/posts/post.dto';
import { Post } from '../../../src/resources/posts/post.entity';
import type { Fixtures } from '../fixtures';
import { aPost } from '../builders';
import { on, onOwner, plain } from '../prepared-request';
import { common, each, type Resource } from '../resource';
import { oneOf, text } from '../values';

const post = (own: Fixtures) => own.post();
const asPosts = {
  table: 'posts',
  attributes: [...common, 'user_id', 'title', 'content', 'status'],
  sortable: Post,
  statuses: ['DRAFT', 'PUBLISHED'],
  textsOf: ({ title, content }: Record<string, never>) => [title, content],
};
export const posts: Resource = {
  noun: 'posts',
  requests: {
    'GET /api/v1/posts': plain,
    'GET /api/v1/posts/:id': on(post),
    'POST /api/v1/posts': () => ({ body: aPost() }),
    'PUT /api/v1/posts/:id': on(post, aPost()),
    'PATCH /api/v1/posts/:id': on(post, { title: 'Another' }),
    'DELETE /api/v1/posts/:id': on(post),
    'GET /api/v1/users/:userId/posts': onOwner(),
    'GET /api/v1/users/:userId/posts/:postId': async (own) => ({ ids: [own.owner.id, (await own.post()).id] }),
    'POST /api/v1/users/:userId/posts': onOwner(aPost),
  },
  writable: {
    input: CreatePostDto,
    attributes: {
      title: text({ min: 1, max: 200 }),
      content: text({ min: 1, max: 50_000, multiline: true }),
      status: oneOf('DRAFT', 'PUBLISHED'),
    },
    required: ['title', 'content'],
    replaceable: true,
    least: aPost,
  },
  collections: [
    {
      ...asPosts,
      name: '/posts',
      fill: (_own, others, lines) => each(lines, ({ text, dates }) => others.post({ content: text, ...dates })),
    },
    {
      ...asPosts,
      name: '/users/{id}/posts',
      async fill(own, _others, lines) {
        const status = (even: boolean) => (even ? 'PUBLISHED' : 'DRAFT');
        await each(lines, ({ text, even, dates }) => own.post({ title: text, status: status(even), ...dates }));
        return { path: `/users/${own.owner.id}/posts`, where: `user_id = ${own.owner.id}` };
      },
    },
  ],
};
