import { createHash, randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DataSource, type EntityManager } from 'typeorm';
import { lacks } from './asked';
import { aPost, aProduct } from './builders';
import type { TestApi, TestUser } from './test-api';

export type Row = Record<string, unknown> & { id: number };

/** Before any test began, so that a change shows in `updated_at`. */
const LONG_AGO = '2020-01-01T00:00:00Z';
/** PostgreSQL's code of a violated unique index. */
const UNIQUE_VIOLATION = '23505';
const DATES = { created_at: LONG_AGO, updated_at: LONG_AGO };

interface UploadAttributes {
  key?: string;
  status?: string;
  filename?: string | null;
  size?: number;
  created_at?: string;
  expires_at?: Date;
}

/**
 * Inserts rows that belong to a user directly into the database, which is cheap enough to make them for each request.
 */
export class Fixtures {
  constructor(
    readonly api: TestApi,
    readonly owner: TestUser,
  ) {}

  product(attributes: object = {}): Promise<Row> {
    return this.insert('products', { ...aProduct(), ...attributes });
  }

  /** An order of one item, inserted in one transaction so that it never lacks its line. */
  async order(attributes: object = {}, product?: Row): Promise<Row> {
    const { id: product_id, name, price: unit_price } = product ?? (await this.product());
    const mine = { user_id: this.owner.id, total_amount: unit_price };
    return this.api.app.nest.get(DataSource).transaction(async (manager) => {
      const order = await insertBy(manager, 'orders', { ...DATES, ...mine, ...attributes });
      const line = { order_id: order.id, position: 0, product_id, quantity: 1, name, unit_price };
      await insertBy(manager, 'order_items', line);
      return order;
    });
  }

  post(attributes: object = {}): Promise<Row> {
    return this.insert('posts', { ...aPost(), user_id: this.owner.id, ...attributes });
  }

  async comment(attributes: object = {}, post?: Row): Promise<Row> {
    const post_id = (post ?? (await this.post())).id;
    return this.insert('comments', { post_id, user_id: this.owner.id, content: 'A comment.', ...attributes });
  }

  async reply(attributes: object = {}, comment?: Row): Promise<Row> {
    const comment_id = (comment ?? (await this.comment())).id;
    return this.insert('replies', { comment_id, user_id: this.owner.id, content: 'A reply.', ...attributes });
  }

  /** An upload. By default a complete one is empty, and an incomplete one lacks one byte. */
  async upload(attributes: UploadAttributes = {}): Promise<Row> {
    const { status = 'UPLOADING', key = randomUUID() } = attributes;
    const complete = status === 'COMPLETE';
    const { size = complete ? 0 : 1 } = attributes;
    const bytes = Buffer.alloc(complete ? size : 0);
    const directory = join(process.env.TEST_DIRECTORY!, 'uploads');
    await mkdir(directory, { recursive: true });
    await writeFile(join(directory, key), bytes);
    return this.insert('uploads', {
      ...{ user_id: this.owner.id, filename: 'a file.txt', offset: bytes.length },
      media_type: 'text/plain',
      checksum: complete ? createHash('sha256').update(bytes).digest('hex') : null,
      expires_at: complete ? null : new Date(Date.now() + 60_000),
      ...attributes,
      ...{ key, status, size },
    });
  }

  /** A public image without bytes. */
  async picture(): Promise<Row> {
    const upload = await this.upload({ status: 'COMPLETE' });
    const text = "UPDATE uploads SET media_type = 'image/png', visibility = 'PUBLIC' WHERE id = $1";
    await this.api.app.nest.get(DataSource).query(text, [upload.id]);
    return upload;
  }

  /** An event of the owner. Changes of other rows leave theirs by themselves. */
  auditEvent(attributes: object = {}): Promise<Row> {
    return insert(this.api, 'audit_events', { user_id: this.owner.id, action: 'AUTHZ_FAIL', ...attributes });
  }

  /** A row of any table. Most tables have a function of their own above. */
  insert(table: string, row: object): Promise<Row> {
    return insert(this.api, table, { ...DATES, ...row }).catch(explainUnique);
  }
}

/** @throws {Error} that says where a row gets the value that another row has already */
function explainUnique(error: Error & { code?: string; table?: string; constraint?: string }): never {
  if (error.code !== UNIQUE_VIOLATION) throw error;
  return lacks([
    `Two rows of ${error.table} in test/support/resources/ break ${error.constraint}: make another value for each of them, ` +
      'and leave the attribute out of `fill`',
  ]) as never;
}

/** @param row the columns, whose names the test has written itself, and their values */
export function insert(api: TestApi, table: string, row: object): Promise<Row> {
  return insertBy(api.app.nest.get(DataSource).manager, table, row);
}

async function insertBy(manager: EntityManager, table: string, row: object): Promise<Row> {
  const names = Object.keys(row).map((name) => `"${name}"`);
  const places = names.map((_, index) => `$${index + 1}`);
  const text = `INSERT INTO ${table} (${names.join()}) VALUES (${places.join()}) RETURNING *`;
  const rows = await manager.query<Row[]>(text, Object.values(row));
  return rows[0];
}
