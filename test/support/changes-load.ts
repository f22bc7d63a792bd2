import { Pool, type PoolClient } from 'pg';
import { times } from '../../src/platform/testing';
import { aPost, aProduct } from './builders';
import { generator } from './mutated-text';

export interface Made {
  type: string;
  id: number;
  change: string;
  version: number;
}

type Type = 'products' | 'posts' | 'comments';
interface Row {
  id: string;
  version: number;
}

/** What another writer has locked first: the transaction is rolled back, and leaves nothing. */
const DEADLOCK = '40P01';
/** The part of transactions that commit late, and of those that roll back. */
const [LATE, UNDONE] = [0.15, 0.05];
/** Seconds that these are held back; the longest outlasts the patience of a reader of the feed. */
const HOLDS = [0.01, 0.05, 0.2, 0.4, 1.3];

/** Writers of products, posts and comments, who make, change and delete in transactions of random length. */
export class ChangesLoad {
  /** What has been committed, in no order. */
  readonly made: Made[] = [];
  private readonly pool: Pool;
  private readonly random: () => number;
  private readonly ids: Record<Type, number[]> = { products: [], posts: [], comments: [] };
  private isOver = false;

  constructor(
    databaseUrl: string,
    private readonly author: { id: number },
    private readonly writers: number,
    seed: number,
  ) {
    this.pool = new Pool({ connectionString: databaseUrl, max: writers });
    this.random = generator(seed);
  }

  /** Writes until there are so many changes, or until {@link stop}. */
  async run(changes = Infinity): Promise<void> {
    await Promise.all(times(this.writers, () => this.write(changes)));
    await this.pool.end();
  }

  stop(): void {
    this.isOver = true;
  }

  private async write(changes: number): Promise<void> {
    while (!this.isOver && this.made.length < changes) {
      const client = await this.pool.connect();
      try {
        await this.transact(client);
      } finally {
        client.release();
      }
    }
  }

  private async transact(client: PoolClient): Promise<void> {
    const made: Made[] = [];
    await client.query('BEGIN');
    try {
      for (let count = Math.ceil(this.random() * 4); count > 0; count--) made.push(...(await this.change(client)));
      if (this.random() < LATE) await client.query('SELECT pg_sleep($1)', [this.oneOf(HOLDS)]);
    } catch (error) {
      await client.query('ROLLBACK');
      if ((error as { code?: string }).code === DEADLOCK) return;
      throw error;
    }
    if (this.random() < UNDONE) return void (await client.query('ROLLBACK'));
    await client.query('COMMIT');
    this.made.push(...made);
    for (const { type, id, change } of made) if (change === 'CREATED') this.ids[type as Type].push(id);
  }

  private change(client: PoolClient): Promise<Made[]> {
    const type = this.oneOf(['products', 'posts', 'comments'] as const);
    const id = this.oneOf(this.ids[type]) as number | undefined;
    const kind = this.random();
    if (id === undefined || kind < 0.4) return this.create(client, type);
    return kind < 0.8 ? this.update(client, type, id) : this.remove(client, type, id);
  }

  private async create(client: PoolClient, type: Type): Promise<Made[]> {
    const post = this.oneOf(this.ids.posts);
    if (type === 'comments') {
      // A post that is deleted has no row to lock, so nothing is inserted.
      const text = `INSERT INTO comments (post_id, user_id, content)
                      SELECT id, $2, 'A comment' FROM posts WHERE id = $1 FOR KEY SHARE RETURNING id, version`;
      return told(type, 'CREATED', await client.query<Row>(text, [post, this.author.id]));
    }
    const body = type === 'posts' ? { ...aPost(), user_id: this.author.id } : aProduct();
    const [names, values] = [Object.keys(body), Object.values(body) as unknown[]];
    const places = names.map((_, index) => `$${index + 1}`);
    const text = `INSERT INTO ${type} (${names.join()}) VALUES (${places.join()}) RETURNING id, version`;
    return told(type, 'CREATED', await client.query<Row>(text, values));
  }

  private async update(client: PoolClient, type: Type, id: number): Promise<Made[]> {
    const [column, present] = type === 'products' ? ['stock', 'AND deleted_at IS NULL'] : ['content', ''];
    const text = `UPDATE ${type} SET ${column} = $2 WHERE id = $1 ${present} RETURNING id, version`;
    return told(type, 'UPDATED', await client.query<Row>(text, [id, Math.floor(this.random() * 1e9)]));
  }

  /** As the service does: products are hidden, and a post takes its comments with it. */
  private async remove(client: PoolClient, type: Type, id: number): Promise<Made[]> {
    if (type === 'products') {
      const text = 'UPDATE products SET deleted_at = now() WHERE id = $1 AND deleted_at IS NULL RETURNING id, version';
      return told(type, 'DELETED', await client.query<Row>(text, [id]));
    }
    const taken: Made[] = [];
    if (type === 'posts') {
      await client.query('SELECT FROM posts WHERE id = $1 FOR UPDATE', [id]);
      const text = 'SELECT id, version FROM comments WHERE post_id = $1 FOR UPDATE';
      taken.push(...told('comments', 'DELETED', await client.query<Row>(text, [id])));
    }
    const text = `DELETE FROM ${type} WHERE id = $1 RETURNING id, version`;
    return [...taken, ...told(type, 'DELETED', await client.query<Row>(text, [id]))];
  }

  private oneOf<T>(list: readonly T[]): T {
    return list[Math.floor(this.random() * list.length)];
  }
}

const told = (type: string, change: string, { rows }: { rows: Row[] }): Made[] =>
  rows.map(({ id, version }) => ({ type, id: Number(id), change, version }));
