import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, type EntityManager } from 'typeorm';
import { minutes, Settings, withLock } from '../platform';
import { hashPassword, identityKey } from '../platform/accounts';
import { Comment } from '../resources/comments/comment.entity';
import { Order, OrderItem, OrderStatus } from '../resources/orders/order.entity';
import { Post } from '../resources/posts/post.entity';
import { Product } from '../resources/products/product.entity';
import { Reply } from '../resources/replies/reply.entity';
import { UserSettings } from '../resources/users/user-settings';
import { User } from '../resources/users/user.entity';
import { DEMO_PASSWORD, demoEmail, demoOrders, demoProducts, demoUsers } from './content';
import { DemoAccounts } from './demo-accounts';
import { demoPosts } from './posts';
import { add } from './rows';

const CENTS = 100;
/** The time between a post and a comment, and between a comment and a reply. */
const COMMENT_DELAY = minutes(95);
const REPLY_DELAY = minutes(12);

/** Fills an empty database, once, with data to explore. */
@Injectable()
export class DemoData implements OnApplicationBootstrap {
  private readonly logger = new Logger(DemoData.name);

  constructor(
    @InjectDataSource() private readonly database: DataSource,
    private readonly settings: Settings,
    private readonly administrator: UserSettings,
    private readonly accounts: DemoAccounts,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    if (this.settings.demoData) await this.fillOnce();
    await this.accounts.check();
  }

  private async fillOnce(): Promise<void> {
    await withLock(this.database, 'demo data', async () => {
      if (!(await this.isEmpty())) return;
      if (this.hasNamesTaken()) {
        return this.logger.warn('There are no demo data: ADMIN_USERNAME or ADMIN_EMAIL is the one of a demo user');
      }
      // All or nothing: the next start would take partial demo data for a user's own data.
      await this.database.transaction(fill);
    });
  }

  /** True if the database contains nothing but the administrator of the settings. Hidden rows count. */
  private async isEmpty(): Promise<boolean> {
    const [{ empty }] = await this.database.query<{ empty: boolean }[]>(
      `SELECT NOT EXISTS (SELECT FROM users WHERE username_key <> $1) AND NOT EXISTS (SELECT FROM products)
          AND NOT EXISTS (SELECT FROM posts) AS empty`,
      [identityKey(this.administrator.ADMIN_USERNAME ?? '')],
    );
    return empty;
  }

  private hasNamesTaken(): boolean {
    const taken = [this.administrator.ADMIN_USERNAME, this.administrator.ADMIN_EMAIL].map((name = '') =>
      identityKey(name),
    );
    return demoUsers.some(({ username }) =>
      [username, demoEmail(username)].map(identityKey).some((key) => taken.includes(key)),
    );
  }
}

async function fill(manager: EntityManager): Promise<void> {
  const users = await addUsers(manager);
  const products = await addProducts(manager);
  await addOrders(manager, users, products);
  await addPosts(manager, users);
}

async function addUsers(manager: EntityManager): Promise<Map<string, User>> {
  const password_hash = await hashPassword(DEMO_PASSWORD);
  const users = demoUsers.map(({ created, ...user }) => {
    const email = demoEmail(user.username);
    const keys = { username_key: identityKey(user.username), email_key: identityKey(email) };
    return { ...user, ...dates(created), ...keys, email, password_hash };
  });
  return mapBy('username', await add(manager, User, users));
}

async function addProducts(manager: EntityManager): Promise<Map<string, Product>> {
  const products = demoProducts.map(({ created, stocked, ...product }) => {
    return { ...product, ...dates(created), stock: stocked - quantitySold(product.name) };
  });
  return mapBy('name', await add(manager, Product, products));
}

/** Cancelled orders have returned what they took. */
function quantitySold(product: string): number {
  return demoOrders
    .filter(({ status }) => status !== OrderStatus.CANCELLED)
    .reduce((sum, { items }) => sum + (items[product] ?? 0), 0);
}

async function addOrders(
  manager: EntityManager,
  users: Map<string, User>,
  products: Map<string, Product>,
): Promise<void> {
  for (const { created, updated, buyer, status, items } of demoOrders) {
    const lines = Object.entries(items).map(([product, quantity], position) => {
      const { id: product_id, name, price: unit_price } = products.get(product)!;
      return { position, product_id, quantity, name, unit_price };
    });
    const cents = lines.reduce((sum, { unit_price, quantity }) => sum + Math.round(unit_price * CENTS) * quantity, 0);
    const order = { ...dates(created, updated), user_id: users.get(buyer)!.id, status, total_amount: cents / CENTS };
    const [{ id: order_id }] = await add(manager, Order, [order]);
    const rows = lines.map((line) => ({ ...line, order_id }));
    await add(manager, OrderItem, rows);
  }
}

async function addPosts(manager: EntityManager, users: Map<string, User>): Promise<void> {
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

function dates(created: string, updated = created): { created_at: Date; updated_at: Date } {
  return { created_at: new Date(created), updated_at: new Date(updated) };
}

function later(time: string, milliseconds: number): string {
  return new Date(Date.parse(time) + milliseconds).toISOString();
}

function mapBy<E>(key: keyof E, rows: E[]): Map<string, E> {
  return new Map(rows.map((row) => [String(row[key]), row]));
}
