import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Wish } from '../../scripts/resource/plan';
import { readersByTable } from '../../scripts/resource/readers';
import { generated } from '../support/generated';

const WISH: Wish = { noun: 'remarks', attributes: ['body:text(200)'] };
const OF_POST = "CASE status WHEN 'PUBLISHED' THEN 0 ELSE user_id END";
const OF_COMMENT =
  "coalesce((SELECT CASE posts.status WHEN 'PUBLISHED' THEN 0 ELSE posts.user_id END FROM posts WHERE posts.id = post_id), -1)";

/** What the migration of a generated resource says of its readers. */
function readersOf(wish: Partial<Wish>): string | undefined {
  const files = generated({ ...WISH, ...wish });
  const [, migration] = [...files].find(([path]) => path.startsWith('src/migrations/'))!;
  const folder = mkdtempSync(join(tmpdir(), 'resource-api-readers-'));
  try {
    writeFileSync(join(folder, '1.ts'), migration);
    return readersByTable([folder]).get('remarks');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe('npm run resource -- add', () => {
  it.each<[string, Partial<Wish>, string]>([
    ['everybody', {}, '0'],
    ['the owner', { owner: true }, 'user_id'],
    ['administrators', { read: 'admin' }, '-1'],
    [
      'the readers of the parent',
      { in: 'posts', owner: true, read: 'public' },
      `coalesce((SELECT (${OF_POST}) FROM posts WHERE posts.id = remarks.post_id), -1)`,
    ],
    [
      'the readers of a parent that is nested itself',
      { in: 'comments' },
      `coalesce((SELECT (${OF_COMMENT}) FROM comments WHERE comments.id = remarks.comment_id), -1)`,
    ],
    [
      'the owner, if it reads the parent',
      { in: 'posts', owner: true },
      `coalesce((SELECT CASE WHEN (${OF_POST}) IN (0, remarks.user_id) THEN remarks.user_id END FROM posts ` +
        'WHERE posts.id = remarks.post_id), -1)',
    ],
    [
      'everybody, while the parent is not deleted',
      { in: 'products' },
      'coalesce((SELECT (0) FROM products WHERE products.id = remarks.product_id AND products.deleted_at IS NULL), -1)',
    ],
    ['administrators, below what everybody reads', { in: 'posts', read: 'admin' }, '-1'],
  ])('tells changes to %s', (_who, wish, expected) => expect(readersOf(wish)).toBe(expected));
});

describe('The readers that migrations declare', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'resource-api-readers-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  const readers = (...migrations: string[]) => {
    for (const [index, text] of migrations.entries()) writeFileSync(join(folder, `${index}.ts`), text);
    return Object.fromEntries(readersByTable([folder]));
  };

  it('are texts, templates, and calls of functions of the file', () => {
    const text = `
      const NOBODY = '-1';
      const of = (rows: string) => \`coalesce((SELECT user_id FROM \${rows}), \${NOBODY})\`;
      auditRows(database, 'a', { readers: '0' });
      auditRows(database, 'b', { omit: ['x'], readers: of("b") });
      auditRows(database, 'c', { readers: NOBODY });`;

    expect(readers(text)).toEqual({ a: '0', b: 'coalesce((SELECT user_id FROM b), -1)', c: '-1' });
  });

  it('are those of the last migration, and unknown if only a run would tell them', () => {
    const [first, second] = [
      "auditRows(database, 'a', { readers: '0' });",
      "auditRows(database, 'a', { readers: '-1' });",
    ];

    expect(readers(first, second)).toEqual({ a: '-1' });
    expect(readers(first, second, "auditRows(database, 'a', { readers: told() });")).toEqual({});
    expect(readers(first, second, "auditRows(database, 'a');")).toEqual({});
  });
});
