import { existsSync, readFileSync } from 'node:fs';
import * as estree from 'prettier/plugins/estree';
import * as typescript from 'prettier/plugins/typescript';
import { format } from 'prettier/standalone';
import { attributeOf } from '../../scripts/resource/attribute';
import { textsOf } from '../../scripts/resource/files';
import { planOf, Refusal, type Wish } from '../../scripts/resource/plan';
import { existingResources } from '../../scripts/resource/project';

const RESOURCES = existingResources();
const PRODUCTS: Wish = {
  noun: 'products',
  attributes: [
    'name:text(120)',
    'description:lines(2000)?',
    'price:money',
    'stock:whole=0',
    'status:ACTIVE|DISCONTINUED=ACTIVE',
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
    ['amount:money!unique', "amount: can't be unique"],
    ['number:text(9)?!unique', 'number: must be required to be unique'],
    ['note:lines(9)?=x', 'note: is null when it is left out'],
  ])('refuses %s', (text, problem) => {
    expect(attributeOf(text, RESOURCES).problems.join('\n')).toContain(problem);
  });

  it.each([
    [{ noun: 'invoice' }, 'invoice: must be a regular plural'],
    [{ noun: 'news' }, 'news: must be a regular plural'],
    [{ noun: 'Invoices' }, 'Invoices: must be a noun'],
    [{ noun: 'docs' }, 'docs: is a path of the service'],
    [{ noun: 'tables' }, 'tables: its singular table is a word of SQL'],
    [{ noun: 'products' }, /^products: .*\/resources\/products exists already$/m],
    [{ attributes: ['note:lines(9)?'] }, 'zebras: needs at least one attribute that is neither null'],
    [{ attributes: ['x:money', 'x:money'] }, 'x: stands twice'],
    [{ attributes: ['user_id:users'], owner: true }, 'user_id: comes from --owner or --in'],
    [{ in: 'nothing' }, '--in nothing: there is no such resource'],
    [{ in: 'orders' }, /--in orders: (?:OrdersModule must export|there is no such resource)/],
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

  it('says all that is wrong at once', () => {
    const attributes = ['id:money', 'amount:money=x'];

    expect(refusalOf({ noun: 'health', attributes, read: 'all', in: 'nothing' })).toHaveLength(5);
    expect(refusalOf({})).toEqual([]);
  });
});

describe('The reference', () => {
  const files = textsOf(
    planOf(PRODUCTS, RESOURCES, () => false),
    1,
  );
  const options = { ...(JSON.parse(readFileSync('.prettierrc', 'utf8')) as object), parser: 'typescript' };
  const formatted = (text: string) => format(text, { ...options, plugins: [estree, typescript] });
  const paths = [...files.keys()].filter((path) => path.startsWith('src/resources/products/'));
  /** A file of the reference, as it is in the service. */
  const reference = (path: string) =>
    existsSync(path)
      ? readFileSync(path, 'utf8')
      : readFileSync(path.replace(/^src/, 'test/support/examples'), 'utf8').replaceAll(/'(?:\.\.\/)+src\//g, "'../../");

  it.each(paths)('is what the command writes, but for comments and what is particular: %s', async (path) => {
    const text = PARTICULAR.reduce((now, [generated, own]) => now.replace(generated, own), files.get(path)!);
    const made = await formatted(text);

    expect(withoutComments(made)).toBe(withoutComments(reference(path)));
  });

  it('consists of five files', () => {
    expect(paths).toHaveLength(5);
    for (const [generated] of PARTICULAR) expect([...files.values()].join('\n')).toContain(generated);
  });
});

const withoutComments = (text: string) => text.replaceAll(/^ *(?:\/\*\*.*?\*\/|\/\/.*?)\n/gms, '');
