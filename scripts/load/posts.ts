import { randomUUID } from 'node:crypto';
import type { LoadCaller } from './callers';
import type { Journal } from './journal';
import type { Answer } from './sender';
import { isExpected, oneOf, readAll, type Subject, type Work } from './work';

interface Post {
  id: number;
  version: number;
  content: string;
  user_id: number;
}

/** What the service has acknowledged of one post. */
interface KnownPost extends Post {
  /** True while a write is under way: reads may see the state before or after. */
  isChanging: boolean;
  /** What else it may contain, as a write was never answered. */
  perhaps?: string;
  deleted: 'no' | 'perhaps' | 'yes';
  comments: number;
}

/** Posts and comments of the callers. Each text is written once, so that a second effect of a write can be told. */
export class Posts implements Subject {
  private readonly mark = `load ${randomUUID()}`;
  private readonly known = new Map<number, KnownPost[]>();
  private readonly comments = new Set<string>();
  readonly works: Work[] = [
    { weight: 40, isRead: true, run: (caller, due) => this.read(caller, due) },
    { weight: 20, isRead: true, run: (caller, due) => this.list(caller, due) },
    { weight: 10, isRead: true, run: (caller, due) => this.listComments(caller, due) },
    { weight: 50, isRead: false, run: (caller, due) => this.create(caller, due) },
    { weight: 30, isRead: false, run: (caller, due) => this.change(caller, due) },
    { weight: 20, isRead: false, run: (caller, due) => this.comment(caller, due) },
    { weight: 5, isRead: false, run: (caller, due) => this.remove(caller, due) },
  ];

  constructor(private readonly journal: Journal) {}

  async verify(callers: LoadCaller[]): Promise<void> {
    for (const caller of callers) {
      const rows = await readAll<Post>(caller, `/posts?userId=${caller.id}`);
      this.comparePosts(
        caller,
        rows.filter(({ content }) => content.startsWith(this.mark)),
      );
      const comments = await readAll<Post>(caller, `/comments?userId=${caller.id}`);
      this.countTwice(
        'comment',
        comments.filter(({ content }) => content.startsWith(this.mark)),
      );
      for (const { content } of comments) this.comments.delete(content);
    }
    for (const content of this.comments) this.journal.findings.add('lost', `the comment ${content}`);
  }

  private async create(caller: LoadCaller, due: number): Promise<void> {
    const content = `${this.mark} ${randomUUID()}`;
    const body = { title: 'A post of a load', content };
    const headers = { 'Idempotency-Key': randomUUID() };
    const answer = await caller.send({ method: 'POST', path: '/posts', body, headers, due });
    if (!isExpected(this.journal, 'POST /posts', answer, 201)) return;
    const post = answer.body!.data as Post;
    if (post.content !== content) this.wrong('POST /posts answered another post');
    this.of(caller).push({ ...post, isChanging: false, deleted: 'no', comments: 0 });
  }

  private async change(caller: LoadCaller, due: number): Promise<void> {
    const post = this.pick(caller);
    if (!post) return this.create(caller, due);
    post.isChanging = true;
    const content = `${this.mark} ${randomUUID()}`;
    const path = `/posts/${post.id}`;
    const headers = { 'If-Match': `"${post.version}"` };
    const answer = await caller.send({ method: 'PATCH', path, body: { content }, headers, due });
    // An earlier attempt had its effect, and its answer was lost.
    const known = answer.status === 412 && answer.uncertain ? await caller.send({ method: 'GET', path }) : answer;
    this.noteChange(post, content, known);
    post.isChanging = false;
  }

  private noteChange(post: KnownPost, content: string, answer: Answer): void {
    if (!isExpected(this.journal, 'PATCH /posts/{id}', answer, 200)) return void (post.perhaps = content);
    const { version, content: now } = answer.body!.data as Post;
    if (now !== content) this.journal.findings.add('lost', `a change of post ${post.id}`);
    if (version !== post.version + 1) this.journal.findings.add('doubled', `a change of post ${post.id}`);
    Object.assign(post, { version, content: now });
  }

  private async comment(caller: LoadCaller, due: number): Promise<void> {
    const post = this.pick(caller);
    if (!post) return this.create(caller, due);
    // A post with comments isn't deleted, so that it keeps them.
    post.comments++;
    const content = `${this.mark} ${randomUUID()}`;
    const headers = { 'Idempotency-Key': randomUUID() };
    const sending = { method: 'POST', path: `/posts/${post.id}/comments`, body: { content }, headers, due };
    const answer = await caller.send(sending);
    if (isExpected(this.journal, 'POST /posts/{id}/comments', answer, 201)) this.comments.add(content);
  }

  private async remove(caller: LoadCaller, due: number): Promise<void> {
    const post = this.pick(caller, ({ comments }) => comments === 0);
    if (!post) return this.create(caller, due);
    post.isChanging = true;
    post.deleted = 'perhaps';
    const answer = await caller.send({ method: 'DELETE', path: `/posts/${post.id}`, due });
    const expected = answer.uncertain ? [204, 404] : [204];
    if (isExpected(this.journal, 'DELETE /posts/{id}', answer, ...expected)) post.deleted = 'yes';
  }

  /** A caller reads its own writes, through whichever instance answers. */
  private async read(caller: LoadCaller, due: number): Promise<void> {
    const post = oneOf(this.of(caller));
    if (!post) return this.list(caller, due);
    const before = { ...post };
    const answer = await caller.send({ method: 'GET', path: `/posts/${post.id}`, due });
    // What changed meanwhile may be seen as it was, or as it is.
    const isSettled = !before.isChanging && !post.isChanging && before.version === post.version && !post.perhaps;
    const wasThere = before.deleted === 'no' && post.deleted === 'no';
    const expected = wasThere ? [200] : before.deleted === 'yes' ? [404] : [200, 404];
    if (!isExpected(this.journal, 'GET /posts/{id}', answer, ...expected) || answer.status !== 200) return;
    const seen = answer.body!.data as Post;
    const isOlder = seen.version < before.version;
    const isOther = isSettled && seen.content !== post.content;
    if (isOlder || isOther) this.wrong(`post ${post.id} was read without a change that was acknowledged`);
  }

  private async list(caller: LoadCaller, due: number): Promise<void> {
    const path = `/posts?userId=${caller.id}&sort=id&order=desc&include=user`;
    const answer = await caller.send({ method: 'GET', path, due });
    if (!isExpected(this.journal, 'GET /posts', answer, 200)) return;
    const posts = answer.body!.data as Post[];
    if (posts.some(({ user_id }) => user_id !== caller.id)) this.wrong('GET /posts?userId answered posts of others');
  }

  private async listComments(caller: LoadCaller, due: number): Promise<void> {
    const post = oneOf(this.of(caller));
    const path = post ? `/comments?postId=${post.id}` : '/comments?size=20';
    isExpected(this.journal, 'GET /comments', await caller.send({ method: 'GET', path, due }), 200);
  }

  private comparePosts(caller: LoadCaller, rows: Post[]): void {
    const present = new Map(rows.map((row) => [row.id, row]));
    this.countTwice('post', rows);
    for (const { id, content, perhaps, version, deleted } of this.of(caller)) {
      const row = present.get(id);
      const isSame = row && (perhaps === undefined ? row.version === version : true);
      if (deleted === 'yes' && row) this.journal.findings.add('lost', `the deletion of post ${id}`);
      if (deleted === 'no' && !row) this.journal.findings.add('lost', `post ${id}`);
      if (row && (!isSame || ![content, perhaps].includes(row.content)))
        this.journal.findings.add('lost', `the last change of post ${id}`);
    }
  }

  /** Each text was sent with one key. */
  private countTwice(what: string, rows: Post[]): void {
    const texts = new Set<string>();
    for (const { content, id } of rows) {
      if (texts.has(content)) this.journal.findings.add('doubled', `${what} ${id}`);
      texts.add(content);
    }
  }

  /** A post that nothing else changes now, among the latest. */
  private pick(caller: LoadCaller, suits: (post: KnownPost) => boolean = () => true): KnownPost | undefined {
    const latest = this.of(caller).slice(-50);
    return oneOf(latest.filter((post) => !post.isChanging && post.deleted === 'no' && !post.perhaps && suits(post)));
  }

  private of(caller: LoadCaller): KnownPost[] {
    const own = this.known.get(caller.id) ?? [];
    if (own.length === 0) this.known.set(caller.id, own);
    return own;
  }

  private wrong(what: string): void {
    this.journal.findings.add('wrong', what);
  }
}
