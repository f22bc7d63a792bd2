/** What the contract says of each resource (section 7), for the tests that ask all of them. */

/** Values of an attribute: those it takes, each with what is stored, and those it refuses, each with the broken rule. */
export interface Values {
  taken: [sent: unknown, stored: unknown][];
  refused: [sent: unknown, rule: string][];
  /** It never leaves again. */
  secret?: boolean;
}

interface TextLimits {
  /** Code points. Default: 0 */
  min?: number;
  max: number;
  multiline?: boolean;
  nullable?: boolean;
}

const NOT_STRINGS = [1, true, {}, ['text']];

export function text({ min = 0, max, multiline = false, nullable = false }: TextLimits): Values {
  const long = 'x'.repeat(min);
  return {
    taken: [
      ['😀'.repeat(max), '😀'.repeat(max)],
      ['e\u0301'.repeat(max), 'é'.repeat(max)],
      [` \u2003${long}y\u00a0 `, `${long}y`],
      [long, long],
      ...(multiline ? [['a\r\n\tb <&>', 'a\n\tb <&>'] as [string, string]] : []),
      ...(nullable ? [[null, null] as [null, null]] : []),
    ],
    refused: [
      ['😀'.repeat(max + 1), 'length'],
      ...(min > 0 ? [[' '.repeat(min), 'length'] as [string, string]] : []),
      ...(min > 1 ? [['x'.repeat(min - 1), 'length'] as [string, string]] : []),
      [`${long}\0y`, 'characters'],
      [`${long}\ud800`, 'encoding'],
      ...(multiline ? [] : [[`x${long}\ny`, 'characters'] as [string, string]]),
      ...[...NOT_STRINGS, ...(nullable ? [] : [null])].map((value): [unknown, string] => [value, 'type']),
    ],
  };
}

export const money: Values = {
  taken: [0, 0.01, 0.1, 19.99, 1e2, 9_999_999_999.99].map((amount) => [amount, amount]),
  refused: [
    [-0.01, 'range'],
    [10_000_000_000, 'range'],
    [0.1 + 0.2, 'decimals'],
    [0.001, 'decimals'],
    [1e-7, 'decimals'],
    [9_999_999_999.985, 'decimals'],
    ...['1', null, true, [1], {}].map((value): [unknown, string] => [value, 'type']),
  ],
};

export function whole({ min, max }: { min: number; max: number }): Values {
  return {
    taken: [min, min + 1, max].map((number) => [number, number]),
    refused: [
      ...[min - 1, max + 1, 2 ** 31, -(2 ** 31), 2 ** 53, 1e300].map((value): [unknown, string] => [value, 'range']),
      ...[min + 0.5, String(min), null, true, [min], {}].map((value): [unknown, string] => [value, 'type']),
    ],
  };
}

export function oneOf(...names: string[]): Values {
  const others = ['GONE', names[0].toLowerCase(), '', null, 1, true, [names[0]], {}];
  return { taken: names.map((name) => [name, name]), refused: others.map((value) => [value, 'enum']) };
}

const at = (local: number, domain: number) => `${'a'.repeat(local)}@${'b'.repeat(domain)}.example.com`;
const email: Values = {
  taken: ['Some.One+tag@example.com', at(64, 63), ` ${at(1, 1)} `].map((address) => [address, address.trim()]),
  refused: [
    ...['', 'a', 'a@', '@b.de', 'a b@c.de', 'a@b', at(65, 1)].map((value): [unknown, string] => [value, 'email']),
    ...[...NOT_STRINGS, null].map((value): [unknown, string] => [value, 'type']),
  ],
};

const password: Values = {
  secret: true,
  taken: ['😀'.repeat(8), ' '.repeat(127) + 'x'].map((value) => [value, undefined]),
  refused: [
    ['😀'.repeat(7), 'length'],
    ['x'.repeat(129), 'length'],
    [' '.repeat(8), 'blank'],
    ...[...NOT_STRINGS, null].map((value): [unknown, string] => [value, 'type']),
  ],
};

const roles: Values = {
  taken: [['USER'], ['ADMIN'], ['USER', 'ADMIN']].map((list) => [list, list]),
  refused: [
    [[], 'length'],
    [['USER', 'USER'], 'unique'],
    [['ROOT'], 'enum'],
    ['USER', 'type'],
    [null, 'type'],
  ],
};

export const ORDER_STATUS = oneOf('PENDING', 'PAID', 'SHIPPED', 'DELIVERED', 'CANCELLED');
export const QUANTITY = whole({ min: 1, max: 1_000 });

export interface Writable {
  noun: string;
  /** All that it is made of. */
  attributes: Record<string, Values>;
  required: string[];
  /** What the others take when they are left out. */
  defaults: Record<string, unknown>;
  /** Whether it can be replaced as a whole. */
  replaceable: boolean;
}

export const WRITABLES: Writable[] = [
  {
    noun: 'users',
    attributes: {
      username: text({ min: 3, max: 20 }),
      email,
      password,
      name: text({ max: 100, nullable: true }),
      status: oneOf('ACTIVE', 'SUSPENDED'),
      roles,
    },
    required: ['username', 'email', 'password'],
    defaults: { name: null, status: 'ACTIVE', roles: ['USER'] },
    replaceable: true,
  },
  {
    noun: 'products',
    attributes: {
      name: text({ min: 1, max: 120 }),
      description: text({ max: 2_000, multiline: true, nullable: true }),
      price: money,
      stock: whole({ min: 0, max: 2 ** 31 - 1 }),
      status: oneOf('ACTIVE', 'DISCONTINUED'),
    },
    required: ['name', 'price'],
    defaults: { description: null, stock: 0, status: 'ACTIVE' },
    replaceable: true,
  },
  {
    noun: 'posts',
    attributes: {
      title: text({ min: 1, max: 200 }),
      content: text({ min: 1, max: 50_000, multiline: true }),
      status: oneOf('DRAFT', 'PUBLISHED'),
    },
    required: ['title', 'content'],
    defaults: { status: 'PUBLISHED' },
    replaceable: true,
  },
  {
    noun: 'comments',
    attributes: { content: text({ min: 1, max: 5_000, multiline: true }) },
    required: ['content'],
    defaults: {},
    replaceable: false,
  },
  {
    noun: 'replies',
    attributes: { content: text({ min: 1, max: 5_000, multiline: true }) },
    required: ['content'],
    defaults: {},
    replaceable: false,
  },
];

export interface Collection {
  name: string;
  table: string;
  /** In their order. */
  attributes: string[];
  sortable: string[];
  /** Empty where it has none. */
  statuses: string[];
  /** What `search` looks through. */
  textsOf: (item: Record<string, never>) => (string | null)[];
}

const common = ['id', 'created_at', 'updated_at'];
const posts = {
  table: 'posts',
  attributes: [...common, 'user_id', 'title', 'content', 'status'],
  sortable: [...common, 'user_id', 'title', 'status'],
  statuses: ['DRAFT', 'PUBLISHED'],
  textsOf: ({ title, content }: Record<string, never>) => [title, content],
};

/** As an administrator sees them. */
export const COLLECTIONS: Collection[] = [
  {
    name: '/users',
    table: 'users',
    attributes: [...common, 'username', 'email', 'name', 'status', 'roles'],
    sortable: [...common, 'username', 'email', 'name', 'status'],
    statuses: ['ACTIVE', 'SUSPENDED'],
    textsOf: ({ username, email, name }) => [username, email, name],
  },
  {
    name: '/products',
    table: 'products',
    attributes: [...common, 'name', 'description', 'price', 'stock', 'status'],
    sortable: [...common, 'name', 'price', 'stock', 'status'],
    statuses: ['ACTIVE', 'DISCONTINUED'],
    textsOf: ({ name, description }) => [name, description],
  },
  {
    name: '/orders',
    table: 'orders',
    attributes: [...common, 'user_id', 'status', 'items', 'total_amount'],
    sortable: [...common, 'user_id', 'status', 'total_amount'],
    statuses: ['PENDING', 'PAID', 'SHIPPED', 'DELIVERED', 'CANCELLED'],
    textsOf: ({ items }) => (items as { name: string }[]).map(({ name }) => name),
  },
  {
    name: '/uploads',
    table: 'uploads',
    attributes: [
      ...common,
      ...['key', 'user_id', 'filename', 'media_type', 'size', 'offset', 'checksum', 'status', 'expires_at'],
    ],
    sortable: [...common, 'user_id', 'filename', 'media_type', 'size', 'status'],
    statuses: ['UPLOADING', 'COMPLETE'],
    textsOf: ({ filename }) => [filename],
  },
  { name: '/posts', ...posts },
  { name: '/users/{id}/posts', ...posts },
  {
    name: '/posts/{id}/comments',
    table: 'comments',
    attributes: [...common, 'post_id', 'user_id', 'content'],
    sortable: [...common, 'post_id', 'user_id'],
    statuses: [],
    textsOf: ({ content }) => [content],
  },
  {
    name: '/replies',
    table: 'replies',
    attributes: [...common, 'comment_id', 'user_id', 'content'],
    sortable: [...common, 'comment_id', 'user_id'],
    statuses: [],
    textsOf: ({ content }) => [content],
  },
];
