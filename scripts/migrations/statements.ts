import type {
  AlterTableCmd,
  AlterTableStmt,
  ColumnDef,
  Constraint,
  IndexStmt,
  Node,
  RenameStmt,
  TypeName,
} from '@pgsql/types';
import { loadModule, parseSync } from 'libpg-query';
import type { Catalog } from './catalog';
import type { Finding, Rule } from './rules';

/** What the statements of a migration are judged by. */
export interface Circumstances {
  /** What the database had before the migration. */
  before: Catalog;
  /** Whether the migration runs in a transaction. */
  transaction: boolean;
  /** Tables that the migration has altered so far, and which are locked until it ends. */
  altered: Set<string>;
}

type Kind<K extends string> = Extract<Node, Record<K, unknown>> extends Record<K, infer S> ? S : never;
type Judge<S> = (statement: S, circumstances: Circumstances) => Finding[];

/** Locks that neither reads nor writes wait for. */
const HARMLESS_LOCKS = 3;
const SERIALS = ['serial', 'serial2', 'serial4', 'serial8', 'smallserial', 'bigserial'];
const REWRITES = ['AT_SetLogged', 'AT_SetUnLogged', 'AT_SetTableSpace', 'AT_SetAccessMethod', 'AT_SetExpression'];
const BOOKKEEPING = ['row_counts'];

/** By the names that PostgreSQL's parser gives them. */
const JUDGES: { [K in 'IndexStmt' | 'RenameStmt' | 'AlterTableStmt' | 'DoStmt']: Judge<Kind<K>> } & Record<
  string,
  Judge<never>
> = {
  IndexStmt: judgeIndex,
  RenameStmt: judgeRename,
  AlterTableStmt: judgeAlteration,
  DoStmt: () => [{ rule: 'hidden', object: 'DO' }],
  AlterObjectSchemaStmt: ({ relation }: Kind<'AlterObjectSchemaStmt'>, { before }) =>
    onTable('rename', relation, before),
  UpdateStmt: ({ relation }: Kind<'UpdateStmt'>, { before }) => ofRows(relation, before),
  DeleteStmt: ({ relation }: Kind<'DeleteStmt'>, { before }) => ofRows(relation, before),
  MergeStmt: ({ relation }: Kind<'MergeStmt'>, { before }) => ofRows(relation, before),
  TruncateStmt: ({ relations = [] }: Kind<'TruncateStmt'>, { before }) =>
    relations.flatMap((one) => ofRows((one as { RangeVar?: Relation }).RangeVar, before)),
  LockStmt: ({ relations = [], mode = 0 }: Kind<'LockStmt'>, { before }) =>
    mode <= HARMLESS_LOCKS
      ? []
      : relations.flatMap((one) => onTable('lock', (one as { RangeVar?: Relation }).RangeVar, before)),
};

type Relation = { relname?: string };

/** Loads PostgreSQL's own parser. Call it once, before {@link findingsOf}. */
export const loadParser = loadModule;

/** What a text of one or more statements does against the rules. @throws {Error} if PostgreSQL can't read it */
export function findingsOf(text: string, circumstances: Circumstances): Finding[] {
  const { stmts } = parseSync(text) as { stmts?: { stmt: Record<string, never> }[] };
  return (stmts ?? []).flatMap(({ stmt }) => {
    const [[kind, statement]] = Object.entries(stmt);
    const findings = JUDGES[kind]?.(statement, circumstances) ?? [];
    return [...findings, ...outsideOfTransaction(kind, statement, circumstances)];
  });
}

const nameOf = (relation?: Relation): string => relation?.relname ?? '';

function onTable(rule: Rule, relation: Relation | undefined, { tables }: Catalog): Finding[] {
  const object = nameOf(relation);
  return tables.has(object) ? [{ rule, object }] : [];
}

/** The rows that count others belong to the migration's own tables. */
function ofRows(relation: Relation | undefined, before: Catalog): Finding[] {
  return BOOKKEEPING.includes(nameOf(relation)) ? [] : onTable('rows', relation, before);
}

function judgeIndex({ relation, idxname, concurrent }: IndexStmt, { before }: Circumstances): Finding[] {
  if (concurrent || !before.tables.has(nameOf(relation))) return [];
  return [{ rule: 'index', object: idxname ?? nameOf(relation) }];
}

function judgeRename({ relation, subname, renameType, newname }: RenameStmt, { before }: Circumstances): Finding[] {
  const table = nameOf(relation);
  if (table && !before.tables.has(table) && renameType !== 'OBJECT_INDEX') return [];
  const column = renameType === 'OBJECT_COLUMN' ? `${table}.${subname}` : undefined;
  return [{ rule: 'rename', object: column ?? subname ?? (table || newname!) }];
}

function judgeAlteration({ relation, cmds = [] }: AlterTableStmt, circumstances: Circumstances): Finding[] {
  const table = nameOf(relation);
  if (!circumstances.before.tables.has(table)) return [];
  const commands = cmds.map((one) => (one as { AlterTableCmd: AlterTableCmd }).AlterTableCmd);
  const findings = commands.flatMap((command) => judgeCommand(table, command, circumstances));
  circumstances.altered.add(table);
  return findings;
}

function judgeCommand(
  table: string,
  command: AlterTableCmd,
  { before, altered, transaction }: Circumstances,
): Finding[] {
  const { subtype, name, def } = command;
  if (REWRITES.includes(subtype!)) return [{ rule: 'rewrite', object: name ? `${table}.${name}` : table }];
  if (subtype === 'AT_AddColumn') return judgeColumn(table, (def as { ColumnDef: ColumnDef }).ColumnDef, before);
  if (subtype === 'AT_AddIdentity') return [{ rule: 'lock', object: `${table}.${name}` }];
  if (subtype === 'AT_AddConstraint') return judgeConstraint((def as { Constraint: Constraint }).Constraint, table);
  if (subtype !== 'AT_ValidateConstraint' || !transaction || !altered.has(table)) return [];
  return [{ rule: 'constraint', object: name!, detail: 'the migration has locked the table before' }];
}

function judgeConstraint(constraint: Constraint, table: string): Finding[] {
  const { skip_validation, indexname, conname, is_enforced = true } = constraint;
  if (skip_validation || indexname || !is_enforced || constraint.contype === 'CONSTR_NOTNULL') return [];
  return [{ rule: 'constraint', object: conname ?? table }];
}

/** A CHECK of a new column reads all rows. A foreign key doesn't, as long as all of them have NULL. */
function judgeColumn(table: string, { colname, constraints = [], typeName }: ColumnDef, before: Catalog): Finding[] {
  const object = `${table}.${colname}`;
  const all = constraints.map((one) => (one as { Constraint: Constraint }).Constraint);
  const fallback = all.find(({ contype }) => contype === 'CONSTR_DEFAULT')?.raw_expr;
  const stored = all.some(({ contype, generated_kind }) => contype === 'CONSTR_GENERATED' && generated_kind !== 'v');
  const identity = all.some(({ contype }) => contype === 'CONSTR_IDENTITY');
  const rewrites = stored || identity || isSerial(typeName) || (fallback && isVolatile(fallback, before));
  const checks = all.filter(
    ({ contype }) =>
      ['CONSTR_CHECK', 'CONSTR_UNIQUE', 'CONSTR_PRIMARY'].includes(contype!) ||
      (contype === 'CONSTR_FOREIGN' && fallback !== undefined),
  );
  return [
    ...(rewrites ? [{ rule: 'rewrite' as const, object }] : []),
    ...checks.map(({ conname }) => ({ rule: 'constraint' as const, object: conname ?? object })),
  ];
}

const isSerial = (type?: TypeName): boolean => SERIALS.includes(lastName(type?.names));

const lastName = (names?: Node[]): string => (names?.at(-1) as { String?: { sval?: string } })?.String?.sval ?? '';

/** Whether an expression calls a function that gives another value for each row. */
function isVolatile(expression: Node, before: Catalog): boolean {
  const text = JSON.stringify(expression);
  const calls = [...text.matchAll(/"funcname":(\[.*?\])/g)].map(([, names]) => lastName(JSON.parse(names) as Node[]));
  return calls.some((name) => before.volatile.has(name));
}

/** Statements that a second run would fail at. */
function outsideOfTransaction(kind: string, statement: object, { transaction }: Circumstances): Finding[] {
  if (transaction || ['SelectStmt', 'VariableSetStmt', 'VariableShowStmt'].includes(kind)) return [];
  const { concurrent, idxname } = statement as IndexStmt;
  if (concurrent) return [];
  const table = nameOf((statement as { relation?: Relation }).relation);
  return [{ rule: 'transaction', object: idxname ?? (table || kind.replace(/Stmt$/, '')) }];
}
