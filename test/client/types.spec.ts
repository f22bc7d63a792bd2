import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import ts from 'typescript';
import { describeCalls, npmClient } from '../support/client';

const STRICT: ts.CompilerOptions = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noEmit: true,
  skipLibCheck: true,
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
  types: [],
};

const RIGHT: [what: string, call: string][] = [
  [
    'a page',
    "const { data: [one], pagination } = await client.users.list({ status: 'ACTIVE' }); const s: string | null = pagination.next; const n: string | undefined = one?.username;",
  ],
  ['all items', "for await (const user of client.users.all({ status: 'ACTIVE' })) { const id: number = user.id; }"],
  [
    'chosen attributes',
    "const { data } = await client.products.list({ fields: ['id', 'name'] }); const [one] = data; const name: string = one!.name;",
  ],
  ['a bound', "await client.products.list({ price: { gte: 1 }, sort: 'price' });"],
  [
    'a creation with a default left out',
    "const made = await client.products.create({ name: 'Cup', price: 4.5 }); const stock: number = made.stock;",
  ],
  [
    'a list of inputs, all or none',
    "const [one] = await client.products.createAll([{ name: 'Cup', price: 4.5 }]); const id: number = one!.id;",
  ],
  [
    'a list of inputs, each with its result',
    "for (const { data, error } of await client.products.createEach([{ name: 'Cup', price: 1 }])) { if (error) { const code: string = error.code; } else { const id: number = data.id; } }",
  ],
  ['a change', 'await client.products.change(1, ({ stock }) => ({ stock: stock - 1 }));'],
  [
    'a collection by its path',
    "const reply = await client.collection('/replies').get(1); const text: string = reply.content;",
  ],
  [
    'a path',
    "const { status, data, etag } = await client.GET('/users/{id}', { params: { path: { id: 1 } } }); const s: 200 = status; const name: string | null = data.name;",
  ],
  ['a path without parameters', "const { data } = await client.GET('/users/profile'); const id: number = data.id;"],
  ['an item of a nested collection', 'const { content } = await client.comments.get(1); const text: string = content;'],
  [
    'chosen attributes of a path',
    "const { data } = await client.GET('/users/{id}', { params: { path: { id: 1 }, query: { fields: ['name'] } } }); const name: string | null | undefined = data.name;",
  ],
  [
    'what is included beside chosen attributes',
    "const { data } = await client.posts.list({ fields: ['title'], include: ['user'] }); const name = data[0]!.user?.username;",
  ],
  ['a text', "const { data } = await client.GET('/public'); const text: string = data;"],
  [
    'a status of an order',
    "await client.PATCH('/orders/{id}/status', { params: { path: { id: 1 } }, body: { status: 'PAID' } });",
  ],
  [
    'no content',
    "const { status, data } = await client.DELETE('/posts/{id}', { params: { path: { id: 1 } } }); const s: 204 = status; const none: undefined = data;",
  ],
  [
    'pages of a nested path',
    "for await (const post of client.all('/users/{userId}/posts', { params: { path: { userId: 1 } } })) { const t: string = post.title; }",
  ],
  [
    'totals of version 1',
    'const { pagination } = await first.products.list({ page: 2 }); const total: number = pagination.total;',
  ],
  [
    'changes, and the resource of each type',
    "for await (const change of client.changes({ types: ['products', 'posts'], include: 'resource' })) { const mark: string = change.mark; if (change.type === 'posts') { const title: string | undefined = change.resource?.title; } else { const price: number | undefined = change.resource?.price; } }",
  ],
  [
    'pages of changes of version 1',
    "for await (const { changes: [one], mark } of first.changes({ from: '1-1', follow: false }).pages()) { const id: number | undefined = one?.id; const next: string = mark; }",
  ],
  [
    'a narrowed code',
    "const error: unknown = undefined; if (isApiError(error) && error.is('CONFLICT')) { const code: 'CONFLICT' = error.code; }",
  ],
];

const WRONG: [what: string, call: string, message: RegExp][] = [
  ['path', "client.GET('/userz')", /not assignable/],
  ['method of a path', "client.PUT('/orders/{id}', { params: { path: { id: 1 } }, body: {} })", /not assignable/],
  ['collection', 'client.invoices', /does not exist/],
  ['path of a collection', "client.collection('/invoices')", /not assignable/],
  ['operation of a collection', 'client.orders.remove(1)', /does not exist/],
  ['parameter', "client.users.list({ state: 'ACTIVE' })", /No overload|does not exist/],
  ['parameter of a path', "client.GET('/users/{id}', { params: { path: { user: 1 } } })", /does not exist|missing/],
  ['missing parameter', "client.GET('/users/{id}')", /Expected 2 arguments/],
  ['filter by status', "client.users.list({ status: 'PAID' })", /No overload|not assignable/],
  ['attribute to sort by', "client.products.all({ sort: 'colour' })", /No overload|not assignable/],
  ['attribute to read', "client.products.list({ fields: ['colour'] })", /No overload|not assignable/],
  [
    'attribute that was not asked for',
    "(await client.products.list({ fields: ['id'] })).data[0]!.name",
    /does not exist/,
  ],
  ['attribute of a body', "client.products.create({ name: 'Cup', price: 1, colour: 'red' })", /does not exist/],
  ['missing attribute of a body', "client.products.create({ name: 'Cup' })", /missing/],
  ['type of an attribute', "client.products.create({ name: 'Cup', price: '1' })", /not assignable/],
  ['attribute of one of many', "client.products.createAll([{ name: 'Cup', price: '1' }])", /not assignable/],
  ['list for a collection that takes none', 'client.orders.createAll([])', /does not exist/],
  ['missing body', "client.POST('/orders')", /Expected 2 arguments/],
  ['attribute of a change', 'client.products.change(1, () => ({ colour: 1 }))', /does not exist|not assignable/],
  [
    'status of an order',
    "client.PATCH('/orders/{id}/status', { params: { path: { id: 1 } }, body: { status: 'GONE' } })",
    /not assignable/,
  ],
  ['status of an answer', "(await client.POST('/orders', { body: { items: [] } })).status === 200", /no overlap/],
  ['attribute of an answer', '(await client.users.get(1)).password', /does not exist/],
  ['type of a change', "client.changes({ types: ['invoices'] })", /No overload|not assignable/],
  [
    'resource of a change that was not asked for',
    "for await (const one of client.changes({ types: ['posts'] })) one.resource",
    /does not exist/,
  ],
  ['version of a parameter', 'client.products.list({ page: 2 })', /No overload|does not exist/],
  ['code of an error', "(error: ApiError) => error.is('CONFLICTS')", /not assignable/],
];

const PREAMBLE = `import { type ApiError, createClient, isApiError } from './src/index.js';
const client = createClient({ url: '' });
const first = createClient({ url: '', version: 1 });
export { client, first, isApiError, type ApiError };
`;

describeCalls('The types of the client', () => {
  const directory = mkdtempSync(join(tmpdir(), 'resource-api-client-types-'));
  let errors: Map<string, string[]>;

  beforeAll(() => {
    npmClient('types');
    cpSync('client', directory, { recursive: true });
    symlinkSync(resolve('node_modules'), join(directory, 'node_modules'), 'junction');
    errors = compiled(directory, { ...texts('right', RIGHT), ...texts('wrong', WRONG) });
  }, 120_000);
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  it.each(RIGHT.map(([what], index) => [what, index] as const))('know %s', (_what, index) => {
    expect(errors.get(`right-${index}.ts`)).toEqual([]);
  });

  it.each(WRONG.map(([what, , message], index) => [what, index, message] as const))(
    'refuse a wrong %s',
    (_what, index, message) => {
      expect(errors.get(`wrong-${index}.ts`)).toEqual([expect.stringMatching(message)]);
    },
  );

  it('have the resource of a team after one command, by both names', () => {
    for (const version of [1, 2]) addCreditNotes(directory, version);
    npmClient('types', join(directory, 'docs'), join(directory, 'src/generated'));
    const calls = {
      'team.ts': `${PREAMBLE}
      for await (const note of client.creditNotes.all({ status: 'ACTIVE' })) { const price: number = note.price; }
      await client.collection('/credit-notes').create({ name: 'A', price: 1 });`,
    };

    expect(compiled(directory, calls).get('team.ts')).toEqual([]);
  }, 120_000);
});

const texts = (kind: string, calls: readonly (readonly [string, string, ...unknown[]])[]) =>
  Object.fromEntries(calls.map(([, call], index) => [`${kind}-${index}.ts`, `${PREAMBLE}${call};\n`]));

/** Compiles these files beside the client's source. @returns the errors of each */
function compiled(directory: string, files: Record<string, string>): Map<string, string[]> {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  const program = ts.createProgram(
    Object.keys(files).map((name) => join(directory, name)),
    STRICT,
  );
  const found = Object.keys(files).map((name): [string, string[]] => {
    const source = program.getSourceFile(join(directory, name));
    return [
      name,
      program
        .getSemanticDiagnostics(source)
        .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n')),
    ];
  });
  return new Map(found);
}

/** Documents with the collection of a team, which is like that of products. */
function addCreditNotes(directory: string, version: number): void {
  const folder = `docs/openapi/v${version}`;
  cpSync(folder, join(directory, folder), { recursive: true });
  const text = readFileSync(join(folder, 'products.json'), 'utf8');
  const renamed = text
    .replaceAll(/"(\/api\/v\d)\/products/g, '"$1/credit-notes')
    .replaceAll('"Products"', '"Credit notes"')
    .replaceAll(/"(list|create|get|replace|update|delete)Products?"/g, '"$1CreditNote"');
  writeFileSync(join(directory, folder, 'credit-notes.json'), renamed);
}
