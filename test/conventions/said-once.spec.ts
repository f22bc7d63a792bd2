import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { DataSource } from 'typeorm';
import { OneOf, ListQueryOf, ResourceDto, ResourceEntity, SortableBy } from '../../src/platform';
import { searchableOf } from '../../src/platform/rows/searchable-by';
import { sortableOf } from '../../src/platform/testing';
import { WRITABLES } from '../support/resources';
import { useTestApi } from '../support/test-api';

/** What is said in one place; every-table.spec.ts compares it with the tables. */
describe('A default', () => {
  it('is not written again in a service', () => {
    const names = readdirSync('src', { recursive: true, encoding: 'utf8' }).map((name) => join('src', name));
    const services = names.filter((name) => name.endsWith('.service.ts'));
    const again = services.flatMap((path) => {
      const { defaults = {} } = WRITABLES.find(({ noun }) => dirname(path).endsWith(noun)) ?? {};
      return writtenAgain(readFileSync(path, 'utf8'), defaults).map((text) => `${path}: ${text}`);
    });

    expect(services).toContain(join('src', 'resources', 'users', 'users.service.ts'));
    expect(again).toEqual([]);
  });

  it.each([
    ['{ ...DEFAULTS, ...input }', ['{ ...DEFAULTS, ...input }']],
    ['{ stock: 0, ...input }', ['stock: 0']],
    ['{ ...input, status: input.status ?? ProductStatus.ACTIVE }', ['input.status ?? ProductStatus.ACTIVE']],
    ['{ ...input, description: null }', ['description: null']],
    ['{ ...input, stock: 1, user_id: caller.id }', []],
    ['{ ...where, deleted_at: null }', []],
  ])('would be found in %s', (columns, found) => {
    const text = `const DEFAULTS = { ...read() }; insertRow(manager, Product, ${columns});`;

    expect(writtenAgain(text, { description: null, stock: 0, status: 'ACTIVE' })).toEqual(found);
  });
});

describe('What a list can be sorted by', () => {
  it('has to be shown by the DTO of a list', () => {
    @SortableBy('cost', 'created_at')
    class Part extends ResourceEntity {
      cost: number;
    }
    class PartDto extends ResourceDto {
      @OneOf(['A'])
      kind: string;
    }

    expect(() => ListQueryOf(PartDto, { sortable: Part })).toThrow('Part is sortable by cost, which PartDto');
  });

  it('has to be said by an entity that a list takes it from', () => {
    class Silent extends ResourceEntity {}

    expect(() => sortableOf(Silent)).toThrow('Silent');
  });
});

describe('What a list can be searched by', () => {
  const api = useTestApi();

  it('has a trigram index, and no other column has, but those that a condition of its own searches', async () => {
    const { entityMetadatas } = api.app.nest.get(DataSource);
    const expected = entityMetadatas.flatMap(({ target, tableName }) =>
      searchableOf(target).map((name) => `${tableName}_${name}_search`),
    );
    const rows: { name: string }[] = await api.app.nest
      .get(DataSource)
      .query("SELECT indexname AS name FROM pg_indexes WHERE indexdef LIKE '%gin_trgm_ops%'");

    const ofProducts = ['product_texts_name_search', 'product_texts_description_search'];
    expect(rows.map(({ name }) => name).sort()).toEqual([...expected, ...ofProducts].sort());
  });

  it('is told at the parameter', async () => {
    const { body } = await api.get('//docs/json');
    expect(JSON.stringify(body)).toContain('contain this text in `title` or `content`');
  });
});

/** What an expression of a service says that a DTO says already. */
function writtenAgain(text: string, defaults: Record<string, unknown>): string[] {
  const source = ts.createSourceFile('a.ts', text, ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const isDefault = (name: string, value: ts.Expression) => name in defaults && isSame(value, defaults[name]);
  const visit = (node: ts.Node): void => {
    if (ts.isObjectLiteralExpression(node)) {
      const spreads = node.properties.filter(ts.isSpreadAssignment);
      const [first] = spreads;
      if (spreads.length > 1 && ts.isIdentifier(first.expression) && isConstant(first.expression.text)) {
        found.push(node.getText());
      }
    }
    if (ts.isPropertyAssignment(node) && isDefault(node.name.getText(), node.initializer)) found.push(node.getText());
    if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.QuestionQuestionToken) {
      const name = ts.isPropertyAccessExpression(node.left) ? node.left.name.text : node.left.getText();
      if (isDefault(name, node.right)) found.push(node.getText());
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

const isConstant = (name: string): boolean => /^[A-Z][A-Z_]*$/.test(name);

/** Members of enumerations have the names of their values. */
function isSame(expression: ts.Expression, value: unknown): boolean {
  if (Array.isArray(value)) {
    if (!ts.isArrayLiteralExpression(expression) || expression.elements.length !== value.length) return false;
    return expression.elements.every((element, index) => isSame(element, value[index]));
  }
  if (ts.isPropertyAccessExpression(expression)) return expression.name.text === value;
  if (ts.isStringLiteral(expression)) return expression.text === value;
  return expression.getText() === String(value);
}
