import { basename } from 'node:path';
import { attributeOf } from '../../scripts/resource/attribute';
import { planOf, Refusal, type Wish } from '../../scripts/resource/plan';
import { exampleText, formatted, generated, resources } from '../support/generated';

const RESOURCES = resources();
const PRODUCTS: Wish = {
  noun: 'products',
  attributes: [
    'name:text(120)',
    'description:lines(2000)?',
    'price:money',
    'stock:whole=0',
    'status:ACTIVE|DISCONTINUED=ACTIVE',
    'image:uuid?',
  ],
  softDelete: true,
};
/** What is particular to products: the generated code, and that of the reference. */
const PARTICULAR: [generated: string, reference: string][] = [
  // Orders change products often, so a table of its own has the texts to search.
  ["@SearchableBy('name', 'description')\n", ''],
  ['import { ResourceEntity, SearchableBy, SortableBy }', 'import { ResourceEntity, SortableBy }'],
  [
    'return paginate(this.products, query);',
    `return paginate(this.products, query, {
      searchIn: \`resource.id IN (SELECT product_id FROM product_texts WHERE name ILIKE :pattern OR description ILIKE :pattern)\`,
    });`,
  ],
  // Many products can be created at once.
  ['@Creates(ProductDto)', '@CreatesEach(ProductDto)'],
  [
    `async create(@Body() input: CreateProductDto): Promise<ProductDto> {
    return toProductDto(await this.products.create(input));`,
    `async create(@InputsOf(CreateProductDto) inputs: CreateProductDto[]): Promise<ProductDto[]> {
    return (await this.products.create(inputs)).map(toProductDto);`,
  ],
  ['Creates, IdParam, IfMatch,', 'CreatesEach, IdParam, IfMatch, InputsOf,'],
  [
    `create(input: CreateProductDto): Promise<Product> {
    return insertRow(this.products.manager, Product, input);`,
    `create(inputs: CreateProductDto[]): Promise<Product[]> {
    return insertRows(this.products.manager, Product, inputs);`,
  ],
  ['import { insertRow,', 'import { insertRows,'],
  // Nobody sorts or filters by keys of pictures.
  ["'status', 'image', 'created_at', 'updated_at')", "'status', 'created_at', 'updated_at')"],
  ["'stock', 'image', 'created_at', 'updated_at']", "'stock', 'created_at', 'updated_at']"],
  // The example of a body needs no picture.
  ['import { PartialType }', 'import { ApiProperty, PartialType }'],
  ['  @Uuid({ nullable: true })', '  @ApiProperty({ example: null })\n  @Uuid({ nullable: true })'],
  ["@ApiResource('Products', 'Products.')", "@ApiResource('Products', 'The catalogue.')"],
];

const refusalOf = (wish: Partial<Wish>): string[] => {
  try {
    planOf({ noun: 'zebras', attributes: ['number:text(9)'], ...wish }, RESOURCES);
  } catch (error) {
    if (error instanceof Refusal) return error.problems;
    throw error;
  }
  return [];
};

describe('npm run resource -- add', () => {
  it.each([
    ['number:text(9)!unique', { min: 1, max: 9, unique: true, nullable: false }],
    ['name:text(3..20)=unknown', { min: 3, max: 20, fallback: 'unknown' }],
    ['note:lines(1000)?', { min: 0, max: 1000, nullable: true, fallback: null }],
    ['amount:money=9.95', { fallback: 9.95 }],
    ['pieces:whole(1..100)', { min: 1, max: 100 }],
    ['status:OPEN|PAID=OPEN', { options: ['OPEN', 'PAID'], fallback: 'OPEN' }],
    ['customer_id:users', { target: 'users' }],
    ['pieces:whole(-20..20)=-3', { min: -20, max: 20, fallback: -3 }],
    ['weight:decimal(9,3)', { max: 9, scale: 3 }],
    ['paid:boolean=false', { fallback: false }],
    ['due_on:date=2026-01-31', { fallback: '2026-01-31' }],
    ['site:url=https://example.com/', { fallback: 'https://example.com/' }],
    ['labels:text(20)[]', { max: 20, items: 20, fallback: [] }],
    ['labels:text(20)[5]=red|blue', { items: 5, fallback: ['red', 'blue'] }],
    ['uses:SHOW|LOAN[]=LOAN', { options: ['SHOW', 'LOAN'], fallback: ['LOAN'] }],
    ['post_ids:posts[9]', { target: 'posts', items: 9, fallback: [] }],
    ['extra:json(500)', { max: 500, fallback: {} }],
    [
      'place:{city:text(40)=Rome,height:decimal(5,1)}?',
      { nullable: true, attributes: [{ name: 'city' }, { scale: 1 }] },
    ],
    ['lines:{name:text(9),level:LOW|HIGH?}[3]', { items: 3, attributes: [{ max: 9 }, { options: ['LOW', 'HIGH'] }] }],
  ])('understands %s', (text, expected) => {
    expect(attributeOf(text, RESOURCES)).toMatchObject({ attribute: expected, problems: [] });
  });

  it.each([
    ['number', 'must have the form name:kind'],
    ['Number:money', 'Number: must be small letters'],
    ['version:money', 'version: is an attribute or a parameter of every resource'],
    ['order:money', 'order: is an attribute or a parameter'],
    ['select:money', 'select: is a word of SQL'],
    ['class:money', 'class: is a word of JavaScript'],
    ['colour:paint', 'colour: paint is neither a kind nor a resource'],
    ['name:text', 'name: needs a greatest length'],
    ['name:text(9..3)', 'name: needs bounds'],
    ['name:text(60000)', 'name: needs bounds'],
    ['amount:money(2)', 'amount: takes no bounds'],
    ['amount:money=-1', 'amount: the default "-1" breaks its own rule'],
    ['name:text(3)=four', 'name: the default "four" breaks its own rule'],
    ['pieces:whole(1..5)=6', 'pieces: the default "6" breaks its own rule'],
    ['status:OPEN|PAID=GONE', 'status: the default "GONE" breaks its own rule'],
    ['status:open|paid', 'status: the names of an enum must be capital letters'],
    ['level:LOW|LOW', 'level: has a name twice'],
    ['status:text(9)', 'status: must be an enum'],
    ['customer:users', 'customer: must end in _id'],
    ['amount:money!unique', "amount: can't be unique: only text, email and whole can. Leave !unique out"],
    ['number:text(9)?!unique', 'number: must be required to be unique: leave out its ?'],
    ['note:lines(9)?=x', 'note: is null when it is left out'],
    ['name:text(9)=a\u0000b', 'name: the default "a\\u0000b" breaks its own rule'],
    ["name:text(9)=O'Brien", 'name: the default "O\'Brien" breaks its own rule'],
    ['name:text(600)!unique', 'name: must have at most 500 characters'],
    ['include:boolean', 'include: is an attribute or a parameter'],
    ['xmin:money', 'xmin: is a column that each table'],
    ['labels:text(20)[]=to do', 'labels: the default'],
    ['name:text(9..)', 'name: needs a greatest length'],
    ['pieces:whole(5..1)', 'pieces: needs bounds'],
    ['pieces:whole(1..5)!unique', 'pieces: must have room for 10000 numbers'],
    ['weight:decimal', 'weight: needs its digits and decimals'],
    ['weight:decimal(20,3)', 'weight: needs bounds'],
    ['weight:decimal(3,4)', 'weight: needs 1 to 3 decimals'],
    ['paid:boolean=yes', 'paid: the default "yes" breaks its own rule'],
    ['due_on:date=2026-02-30', 'due_on: the default "2026-02-30" breaks its own rule'],
    ['seen_at:moment=2026-01-31T12:00:00Z', 'seen_at: takes no default'],
    ['site:url=ftp://example.com', 'site: the default'],
    ['site:url!unique', "site: can't be unique"],
    ['days:date[]', 'days: date is no kind of lists'],
    ['labels:text(20)[101]', 'labels: needs a length from 1 to 100'],
    ['labels:text(20)[]?', 'labels: is empty when it is left out'],
    ['labels:text(20)[]=a|a', 'labels: the default "a|a" breaks its own rule'],
    ['posts:posts[]', 'posts: must end in _ids'],
    ['uses:SHOW|LOAN[]=GONE', 'uses: the default "GONE" breaks its own rule'],
    ['status:OPEN|PAID[]', 'status: must be an enum'],
    ['place:{}', 'place.: must have the form name:kind'],
    ['place:{city:paint}', 'place.city: paint is neither a kind nor a resource'],
    ['place:{user_id:users}', "place.user_id: can't stand in a nested object"],
    ['place:{at:moment}', "place.at: can't stand in a nested object"],
    ['place:{a:money,a:money}', 'place.a: stands twice'],
    ['place:{city:text(9)!unique}', "place.city: can't stand in a nested object"],
  ])('refuses %s', (text, problem) => {
    expect(attributeOf(text, RESOURCES).problems.join('\n')).toContain(problem);
  });

  it.each([
    [{ noun: 'invoice' }, "invoice: isn't a regular plural"],
    [{ noun: 'news' }, "news: isn't a regular plural"],
    [{ noun: 'Invoices' }, 'Invoices: must be a noun'],
    [{ noun: 'docs' }, 'docs: is a path of the service'],
    [{ noun: 'tables' }, 'tables: its singular table is a word of SQL'],
    [{ noun: 'products' }, /^products: .*\/resources\/products exists already$/m],
    [{ attributes: ['note:lines(9)?'] }, 'zebras: needs at least one attribute that is neither null'],
    [
      { attributes: ['parent_id:zebras?', 'name:text(9)'] },
      /^parent_id: the command writes no reference of zebras to themselves\. Leave parent_id out/m,
    ],
    [{ attributes: ['x:money', 'x:money'] }, 'x: stands twice'],
    [{ attributes: ['user_id:users'], owner: true }, 'user_id: comes from --owner or --in'],
    [{ attributes: ['user_id:users'], in: 'users' }, 'user_id: comes from --owner or --in'],
    [{ owner: true, in: 'users' }, '--in users: its id is user_id'],
    [{ attributes: ['post:text(9)'], in: 'posts' }, 'post: is the row of post_id'],
    [{ attributes: ['editor_id:users', 'editor:text(9)'] }, 'editor: is the row of editor_id'],
    [{ attributes: ['order_id:orders'] }, 'order_id: OrdersModule must export OrdersService'],
    [{ noun: 'nested-zebras-of-the-savanna', attributes: [`a${'b'.repeat(30)}:money`] }, 'is too long beside'],
    [{ noun: 'moments' }, 'moments: its singular moment is a name of the tests'],
    [{ noun: 'pages' }, 'pages: its singular page would be the class Page'],
    [{ noun: 'branches' }, 'name its singular by --singular'],
    [{ noun: 'order-items' }, 'order-items: is a table of the service'],
    [{ attributes: ['version_id:users', 'name:text(9)'] }, 'version_id: its row version is an attribute'],
    [{ attributes: ['line:{a:money}', 'lines:{a:money}[]'] }, 'LineDto: two attributes would have a class'],
    [{ noun: 'editors', in: 'users', owner: false, read: 'public' }, '--read public: users are not open'],
    [{ noun: 'people', singular: 'people' }, '--singular people: must be another noun'],
    [{ noun: 'people', singular: 'user' }, 'people: users has the singular user already'],
    [{ in: 'nothing' }, '--in nothing: there is no such resource'],
    [{ in: 'orders' }, '--in orders: OrdersModule must export'],
    [{ read: 'all' }, '--read all: must be public, user, admin'],
    [{ write: 'public' }, '--write public: must be user, admin'],
    [{ owner: true, read: 'admin' }, '--owner: owners read and write their own'],
    [{ read: 'admin', write: 'user' }, '--write user: users must be able to read it too'],
  ])('refuses %j', (wish, problem) => {
    const said = refusalOf(wish).join('\n');
    expect(said).toEqual(
      typeof problem === 'string' ? expect.stringContaining(problem) : expect.stringMatching(problem),
    );
  });

  describe.each([
    ['by --owner', { owner: true }],
    ['by --write user', { read: 'user', write: 'user' }],
  ])('lets nobody write %s', (_how, access) => {
    const hidden = RESOURCES.map((one) => (one.names.noun === 'posts' ? { ...one, read: 'admin' as const } : one));
    const problems = (wish: Partial<Wish>) => {
      try {
        planOf({ noun: 'zebras', attributes: ['name:text(9)'], ...access, ...wish }, hidden);
        return '';
      } catch (error) {
        return (error as Refusal).message;
      }
    };

    it('below rows that only administrators read', () => {
      expect(problems({ in: 'posts' })).toContain('--in posts: only administrators read them');
      expect(problems({})).toBe('');
    });

    it.each(['post_id:posts', 'post_id:posts?', 'post_ids:posts[]'])('what names such rows: %s', (attribute) => {
      expect(problems({ attributes: ['name:text(9)', attribute] })).toContain('only administrators read posts');
    });
  });

  it('says all that is wrong at once', () => {
    const attributes = ['id:money', 'amount:money=x'];

    expect(refusalOf({ noun: 'health', attributes, read: 'all', in: 'nothing' })).toHaveLength(5);
    expect(refusalOf({})).toEqual([]);
  });
});

const COMMENTS: Wish = {
  noun: 'comments',
  attributes: ['content:lines(5000)'],
  in: 'posts',
  owner: true,
  read: 'public',
};
/** What is particular to comments. They have rules about the visibility of their post, and `userId` in the list of all. */
const PARTICULAR_TO_COMMENTS: [generated: RegExp, reference: string][] = [
  [/ {2}@ApiExampleBody\(.*\n| {2}ApiExampleBody,\n/g, ''],
  [/\['user_id', /, '['],
  // Their service reads by a builder.
  [/ {2}@Prefetches\(Comment\)\n| {2}Prefetches,\n|import \{ Comment \} .*\n(?=import \{ CommentsService)/g, ''],
  [/'Comments of posts\.'/, "'Comments on posts.'"],
];

/** The list of all comments, which only the reference has: the command doesn't know how hidden posts are left out of it. */
const LIST_OF_ALL: Record<string, RegExp[]> = {
  'comments.controller.ts': [
    / {2}\/\*\* Lists comments\. \*\/.*?\n {2}\}\n\n/s,
    / {2}AnswersPage,\n| {2}type Page,\n|ListAllCommentsQuery, |, Query(?= \})/g,
  ],
  'comment.dto.ts': [/\/\*\* What the list of all .*?\n\}\n\n/s, / {2}IdsParameter,\n/],
};

describe('The nested reference', () => {
  const files = generated(COMMENTS);
  const paths = [...files.keys()].filter((path) => path.startsWith('src/resources/comments/'));

  it.each(paths.filter((path) => !path.endsWith('service.ts')))(
    'is what the command writes, but for comments and what is particular: %s',
    async (path) => {
      const made = await formatted(files.get(path)!);
      const text = PARTICULAR_TO_COMMENTS.reduce((now, [pattern, own]) => now.replace(pattern, own), made);

      const beyond = LIST_OF_ALL[basename(path)] ?? [];
      const reference = beyond.reduce((now, part) => now.replace(part, ''), exampleText(path));

      expect(withoutComments(await formatted(text))).toBe(withoutComments(await formatted(reference)));
    },
  );

  it('consists of six files', () => {
    expect(paths).toHaveLength(6);
  });
});

describe('The reference', () => {
  const files = generated(PRODUCTS);
  const paths = [...files.keys()].filter((path) => path.startsWith('src/resources/products/'));

  it.each(paths)('is what the command writes, but for comments and what is particular: %s', async (path) => {
    const text = PARTICULAR.reduce((now, [made, own]) => now.replace(made, own), files.get(path)!);
    const made = await formatted(text);

    expect(withoutComments(made)).toBe(withoutComments(await formatted(exampleText(path))));
  });

  it('consists of five files', () => {
    expect(paths).toHaveLength(5);
    for (const [made] of PARTICULAR) expect([...files.values()].join('\n')).toContain(made);
  });
});

const withoutComments = (text: string) => text.replaceAll(/^ *(?:\/\*\*.*?\*\/|\/\/.*?)\n/gms, '');
