import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, type EntityManager, type EntityTarget, type ObjectLiteral } from 'typeorm';
import { identityKey } from '../auth/identity-key';
import { hashPassword } from '../auth/passwords';
import { Settings } from '../config/settings';
import { withLock } from '../database/with-lock';
import { Comment } from '../resources/comments/comment.entity';
import { Order, OrderItem } from '../resources/orders/order.entity';
import { Post } from '../resources/posts/post.entity';
import { Product } from '../resources/products/product.entity';
import { Reply } from '../resources/replies/reply.entity';
import { User } from '../resources/users/user.entity';
import { demoOrders, demoPosts, demoProducts, demoUsers } from './content';

/** Printed at the start, and good for nothing but demo data: the settings refuse that in production. */
export const DEMO_PASSWORD = 'demo-password';

const CENTS = 100;

/** Fills an empty database, once, with something to explore. */
@Injectable()
export class DemoData implements OnApplicationBootstrap {
  constructor(
    @InjectDataSource() private readonly database: DataSource,
    private readonly settings: Settings,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    if (!this.settings.demoData) return;
    await withLock(this.database, 'demo data', async () => {
      if (await this.database.getRepository(User).exists({ withDeleted: true })) return;
      // All of it or nothing: the next start would take half of it for somebody's own.
      await this.database.transaction(fill);
    });
  }
}

async function fill(manager: EntityManager): Promise<void> {
  const users = await addUsers(manager);
  const products = await add(manager, Product, demoProducts);
  await addPosts(manager, new Map(users.map(({ username, id }) => [username, id])));
  await addOrders(manager, users, products);
}

async function addUsers(manager: EntityManager): Promise<User[]> {
  const password_hash = await hashPassword(DEMO_PASSWORD);
  const users = demoUsers.map((user) => {
    const email = `${user.username}@example.com`;
    return { ...user, email, username_key: identityKey(user.username), email_key: identityKey(email), password_hash };
  });
  return add(manager, User, users);
}

async function addPosts(manager: EntityManager, ids: Map<string, number>): Promise<void> {
  for (const { author, comments, ...post } of demoPosts) {
    const [{ id: post_id }] = await add(manager, Post, [{ ...post, user_id: ids.get(author) }]);
    for (const { author: commenter, content, replies } of comments) {
      const [{ id: comment_id }] = await add(manager, Comment, [{ post_id, content, user_id: ids.get(commenter) }]);
      await add(
        manager,
        Reply,
        replies.map((reply) => ({ comment_id, content: reply.content, user_id: ids.get(reply.author) })),
      );
    }
  }
}

async function addOrders(manager: EntityManager, users: User[], products: Product[]): Promise<void> {
  for (const { buyer, status, items } of demoOrders) {
    const lines = items.map(({ product: wanted, quantity }, position) => {
      const { id: product_id, name, price: unit_price } = products.find(({ name }) => name === wanted)!;
      return { position, product_id, name, unit_price, quantity };
    });
    const cents = lines.reduce((sum, { unit_price, quantity }) => sum + Math.round(unit_price * CENTS) * quantity, 0);
    const user_id = users.find(({ username }) => username === buyer)!.id;
    const [{ id: order_id }] = await add(manager, Order, [{ user_id, status, total_amount: cents / CENTS }]);
    await add(
      manager,
      OrderItem,
      lines.map((line) => ({ ...line, order_id })),
    );
  }
}

/** Rows with the ids that they got. */
async function add<E extends ObjectLiteral>(
  manager: EntityManager,
  entity: EntityTarget<E>,
  rows: object[],
): Promise<E[]> {
  const made = rows.map((row) => manager.create(entity, row as E));
  if (made.length > 0) await manager.insert(entity, made);
  return made;
}
