import { existsSync, readdirSync, readFileSync } from 'node:fs';
import ts from 'typescript';

/** The migrations of the service, and those of the examples once the service is without them. */
const FOLDERS = ['src/migrations', 'test/support/examples/migrations'];

/**
 * The expressions by which migrations say who reads a row, by table: the `readers` of `auditRows()`. The last migration counts.
 * One that only a run would tell is left out.
 */
export function readersByTable(folders: string[] = FOLDERS): Map<string, string> {
  const found = new Map<string, string>();
  for (const folder of folders.filter((path) => existsSync(path))) {
    for (const name of readdirSync(folder).sort()) {
      const text = readFileSync(`${folder}/${name}`, 'utf8');
      if (text.includes('auditRows(')) addReaders(ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true), found);
    }
  }
  return found;
}

function addReaders(source: ts.SourceFile, found: Map<string, string>): void {
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && node.expression.getText() === 'auditRows') {
      const [, table, options] = node.arguments;
      const name = table && textOf(table);
      const readers = options && readersIn(options);
      if (name !== undefined && readers === undefined) found.delete(name);
      else if (name !== undefined) found.set(name, readers!);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
}

function readersIn(options: ts.Expression): string | undefined {
  if (!ts.isObjectLiteralExpression(options)) return undefined;
  const given = options.properties.find((one) => one.name?.getText() === 'readers');
  return given && ts.isPropertyAssignment(given) ? textOf(given.initializer) : undefined;
}

/** A text, a template, or the call of an arrow function of the same file that gives one. @param values of parameters */
function textOf(node: ts.Expression, values: ReadonlyMap<string, string> = new Map()): string | undefined {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isTemplateExpression(node)) {
    const parts = node.templateSpans.map((span) => [textOf(span.expression, values), span.literal.text]);
    return parts.some(([text]) => text === undefined) ? undefined : node.head.text + parts.flat().join('');
  }
  if (ts.isIdentifier(node)) {
    const constant = values.has(node.text) ? undefined : constantOf(node);
    return constant ? textOf(constant) : values.get(node.text);
  }
  if (!ts.isCallExpression(node) || !ts.isIdentifier(node.expression)) return undefined;
  const called = constantOf(node.expression);
  if (!called || !ts.isArrowFunction(called) || ts.isBlock(called.body)) return undefined;
  const given = node.arguments.map((one) => textOf(one, values));
  if (given.some((text) => text === undefined)) return undefined;
  const named = called.parameters.map(({ name }, index): [string, string] => [name.getText(), given[index]!]);
  return textOf(called.body, new Map(named));
}

/** What a name of the file stands for. */
function constantOf(name: ts.Identifier): ts.Expression | undefined {
  for (const statement of name.getSourceFile().statements) {
    if (!ts.isVariableStatement(statement)) continue;
    const declared = statement.declarationList.declarations.find((one) => one.name.getText() === name.text);
    if (declared) return declared.initializer;
  }
  return undefined;
}
