import { PostStatus } from '../../resources/posts/post.entity';
import type { Random } from './random';
import { makeRemark, makeSentence, makeTitle } from './texts';
import { someUser } from './users';
import { countAt, latest, originOf, type Seed, type World } from './world';

const MAX_PARAGRAPHS = 4;
const MAX_SENTENCES = 6;
/** A tenth of the posts gets more comments than others, a hundredth far more. */
const POPULARITY = [1, 1, 10, 100];

export const posts: Seed = {
  noun: 'posts',
  usually: 'twice the users',
  count: ({ users }) => 2 * users,
  needs: ['users'],
  tables: { posts: makePost },
};

export const comments: Seed = {
  noun: 'comments',
  usually: 'twice the posts',
  count: ({ posts }) => 2 * posts,
  needs: ['posts'],
  tables: { comments: makeComment },
};

export const replies: Seed = {
  noun: 'replies',
  usually: 'half of the comments',
  count: ({ comments }) => comments / 2,
  needs: ['comments'],
  tables: { replies: makeReply },
};

function makePost(world: World, place: number) {
  const { random, created_at, user_id, status } = beginPost(world, place);
  return {
    id: world.ids.posts[place],
    created_at,
    updated_at: created_at,
    user_id,
    title: makeTitle(random),
    content: several(1 + random.repeats(0.35, MAX_PARAGRAPHS - 1), () => makeParagraph(random)).join('\n\n'),
    status,
  };
}

function makeComment(world: World, place: number) {
  const { random, created_at, post, user_id } = beginComment(world, place);
  return {
    id: world.ids.comments[place],
    created_at,
    updated_at: created_at,
    post_id: world.ids.posts[post],
    user_id,
    content: makeAnswer(random),
  };
}

function makeReply(world: World, place: number) {
  const { random, time, created_at } = originOf(world, 'replies', place);
  const comment = someRecent(random, countAt(world, 'comments', time));
  const author = someUser(world, random, time);
  const written = latest(created_at, author.created_at, beginComment(world, comment).created_at);
  return {
    id: world.ids.replies[place],
    created_at: written,
    updated_at: written,
    comment_id: world.ids.comments[comment],
    user_id: author.id,
    content: makeAnswer(random),
  };
}

function beginPost(world: World, place: number) {
  const { random, time, created_at } = originOf(world, 'posts', place);
  const author = someUser(world, random, time);
  // The first post is never a draft, so that there is one to comment on.
  const status = place > 0 && random.chance(0.08) ? PostStatus.DRAFT : PostStatus.PUBLISHED;
  return { random, created_at: latest(created_at, author.created_at), user_id: author.id, status };
}

function beginComment(world: World, place: number) {
  const { random, time, created_at } = originOf(world, 'comments', place);
  const post = somePublished(world, random, countAt(world, 'posts', time));
  const author = someUser(world, random, time);
  const written = latest(created_at, author.created_at, beginPost(world, post).created_at);
  return { random, created_at: written, post, user_id: author.id };
}

/** Drafts get no comments. */
function somePublished(world: World, random: Random, posts: number): number {
  const recent = someRecent(random, posts);
  let post = recent - (recent % random.pick(POPULARITY));
  while (beginPost(world, post).status === PostStatus.DRAFT) post--;
  return post;
}

/** A position below `count`, later ones more often. */
function someRecent(random: Random, count: number): number {
  return count - 1 - Math.floor(count * random.next() ** 3);
}

function makeParagraph(random: Random): string {
  return several(1 + random.repeats(0.5, MAX_SENTENCES - 1), () => makeSentence(random)).join(' ');
}

/** A remark, a sentence or both. */
function makeAnswer(random: Random): string {
  const parts = random.pick([[makeRemark], [makeSentence], [makeRemark, makeSentence]]);
  return parts.map((make) => make(random)).join(' ');
}

function several(count: number, make: () => string): string[] {
  return Array.from({ length: count }, make);
}
