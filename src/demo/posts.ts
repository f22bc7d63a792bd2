import type { EntityManager } from 'typeorm';
import { minutes } from '../platform';
import { Comment } from '../resources/comments/comment.entity';
import { Post, PostStatus } from '../resources/posts/post.entity';
import { Reply } from '../resources/replies/reply.entity';
import { User } from '../resources/users/user.entity';
import { add, dates, rowsBy } from './rows';

/** The time between a post and a comment, and between a comment and a reply. */
const COMMENT_DELAY = minutes(95);
const REPLY_DELAY = minutes(12);

interface DemoPost {
  created: string;
  author: string;
  title: string;
  content: string;
  status?: PostStatus;
  comments: DemoComment[];
}

/** A comment with its author and replies. */
interface DemoComment {
  author: string;
  content: string;
  replies?: [author: string, content: string][];
}

export const demoPosts: DemoPost[] = [
  {
    created: '2026-01-13T10:00:00Z',
    author: 'ada',
    title: 'Notes on the Analytical Engine',
    content: [
      'It has no pretensions to originate anything.',
      'What it does have is patience: a card is read the ten-thousandth time exactly as it was the first, and nobody ' +
        'has to stay awake for it.',
      'Three things to settle before we go on:\n- how a table is handed to the mill,\n- who checks the cards,\n' +
        '- what becomes of a result that nobody asked for.',
    ].join('\n\n'),
    comments: [
      {
        author: 'grace',
        content: 'Could it compose music, then?',
        replies: [
          ['ada', 'If the rules of harmony can be written down, yes.'],
          ['grace', 'Then I know whom to ask for a march.'],
        ],
      },
      { author: 'barbara', content: 'It does whatever we know how to order it to perform.' },
      {
        author: 'edsger',
        content: 'Who checks the cards?\nWhoever wrote them should be able to show that they are right.',
        replies: [['ada', 'Agreed, and in ink.']],
      },
    ],
  },
  {
    created: '2026-01-17T15:30:00Z',
    author: 'grace',
    title: 'What a nanosecond looks like',
    content:
      'A piece of wire, not quite 30 cm long. Hang one beside your desk.\n\n' +
      'The next time somebody wants one more round trip, hand them a coil of three hundred metres: that is a microsecond.',
    comments: [
      { author: 'edsger', content: 'I shall hang one up.' },
      { author: 'barbara', content: 'Mine has a knot in the middle, for the impatient.' },
    ],
  },
  {
    created: '2026-01-10T09:15:00Z',
    author: 'edsger',
    title: 'The humble programmer',
    content: 'Only do what only you can do.',
    comments: [
      {
        author: 'barbara',
        content: 'And who does the dishes?',
        replies: [['edsger', 'I have yet to find the proof that it must be me.']],
      },
    ],
  },
  {
    created: '2026-01-30T21:45:00Z',
    author: 'ada',
    title: 'A sum for the Engine',
    content: 'The numbers of Bernoulli, to be continued.\n\n1. Lay out the variables.\n2. Count the operations.\n3.',
    status: PostStatus.DRAFT,
    comments: [],
  },
  {
    created: '2026-01-21T08:20:00Z',
    author: 'barbara',
    title: 'What a subtype owes its callers',
    content:
      'Whoever is promised a coffee and gets an espresso has no reason to complain.\n' +
      'Whoever is promised a coffee and gets a voucher has.\n\n' +
      'The rule fits on a cup: where the old one worked, the new one works.',
    comments: [
      {
        author: 'grace',
        content: 'Does decaf count?',
        replies: [
          ['barbara', 'Depends on whether anybody relied on being awake.'],
          ['edsger', 'I did.'],
        ],
      },
      { author: 'ada', content: 'I have put it on our cups.' },
    ],
  },
  {
    created: '2026-01-23T12:00:00Z',
    author: 'grace',
    title: 'Opening hours in February',
    content: 'Mondays closed, Tuesdays roasting (come and smell), Wednesday to Saturday 9 to 18.',
    comments: [],
  },
  {
    created: '2026-01-25T19:10:00Z',
    author: 'edsger',
    title: 'Against measuring twice',
    content:
      'People weigh the beans, grind them, and weigh them again. If the grinder loses beans, mend the grinder; if it ' +
      'does not, the second weighing tells you nothing.\n\nTests show that there are beans, never that there are none missing.',
    comments: [{ author: 'grace', content: 'Mine loses beans. What is your hourly rate?' }],
  },
  {
    created: '2026-01-29T06:40:00Z',
    author: 'barbara',
    title: 'Cleaning the moka pot',
    content: 'Without soap.\n\n\tBoil water in it, wipe it, leave it open.\n\nThat is all.',
    comments: [
      { author: 'ada', content: 'Every time?', replies: [['barbara', 'Every time.']] },
      { author: 'edsger', content: 'An admirably short program.' },
    ],
  },
  {
    created: '2026-01-26T23:30:00Z',
    author: 'grace',
    title: 'Remarks for the supplier',
    content: 'Not yet to be read by anybody:\n- the blue enamel\n- the lids\n- the invoice of the 14th',
    status: PostStatus.DRAFT,
    comments: [],
  },
  {
    created: '2026-01-11T23:58:00Z',
    author: 'mallory',
    title: 'You have won a kettle!!!',
    content: 'Send me your password to collect it. <script>alert("kettle")</script>',
    comments: [
      { author: 'barbara', content: 'I have told the administrator.', replies: [['grace', 'Thank you. Done.']] },
    ],
  },
];

export async function addPosts(manager: EntityManager): Promise<void> {
  const users = await rowsBy(manager, User, 'username');
  for (const { created, author, comments, ...post } of demoPosts) {
    const row = { ...post, ...dates(created), user_id: users.get(author)!.id };
    const [{ id: post_id }] = await add(manager, Post, [row]);
    let time = created;
    for (const { author, content, replies = [] } of comments) {
      time = later(time, COMMENT_DELAY);
      const comment = { ...dates(time), post_id, user_id: users.get(author)!.id, content };
      const [{ id: comment_id }] = await add(manager, Comment, [comment]);
      for (const [author, content] of replies) {
        time = later(time, REPLY_DELAY);
        await add(manager, Reply, [{ ...dates(time), comment_id, user_id: users.get(author)!.id, content }]);
      }
    }
  }
}

function later(time: string, milliseconds: number): string {
  return new Date(Date.parse(time) + milliseconds).toISOString();
}
