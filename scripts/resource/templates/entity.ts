import type { Attribute, Json } from '../kinds';
import type { Plan } from '../plan';
import {
  enumOf,
  type Imports,
  literal,
  plainLiteral,
  type Reference,
  referencesOf,
  searchableOf,
  sortableOf,
  withImports,
} from './source';

const quoted = (names: string[]) => names.map((name) => `'${name}'`).join(', ');

export function entityFile(plan: Plan): string {
  const { names, attributes, softDelete } = plan;
  const references = referencesOf(plan);
  const code = `
${attributes.map((one) => declaredEnum(one, names.entity)).join('')}
@Entity('${names.table}')
${attributes.map((one) => uniqueOf(one, plan)).join('')}${softDelete ? references.map(({ column }) => `@Index('${names.table}_${column}_reference', ['${column}'])\n`).join('') : ''}@SortableBy(${quoted(sortableOf(plan))})
${searchableOf(plan).length > 0 ? `@SearchableBy(${quoted(searchableOf(plan))})` : ''}
${attributes.map((one) => checkOf(one, names.table)).join('')}export class ${names.entity} extends ResourceEntity {
${[
  ...references.filter(({ attribute }) => !attribute).map((one) => referenceOf(one, plan)),
  ...attributes.map((one) => columnOf(one, plan, references)),
  ...(softDelete ? [deletion(plan)] : []),
].join('\n')}
}
`;
  const entities = [...new Map(references.map(({ to }) => [to.names.noun, to.names])).values()];
  const imports: Imports = [
    ['typeorm', ['Check', 'Column', 'DeleteDateColumn', 'Entity', 'Index', 'JoinColumn', 'ManyToOne', 'type Relation']],
    ['../../platform', ['ResourceEntity', 'SearchableBy', 'SortableBy']],
    ...entities.map(({ noun, file, entity }): Imports[number] => [`../${noun}/${file}.entity`, [entity]]),
  ];
  return withImports(code, imports);
}

function declaredEnum(attribute: Attribute, entity: string): string {
  if (attribute.options.length === 0) return '';
  const members = attribute.options.map((name) => `  ${name} = '${name}',\n`);
  return `export enum ${enumOf(attribute, entity)} {\n${members.join('')}}\n\n`;
}

function uniqueOf({ name, unique }: Attribute, { names, owner, softDelete }: Plan): string {
  if (!unique) return '';
  const columns = [...(owner ? ['user_id'] : []), name];
  // A deleted row isn't seen any more, so its value is free again.
  const present = softDelete ? `, where: 'deleted_at IS NULL'` : '';
  return `@Index('${names.table}_${name}_unique', [${quoted(columns)}], { unique: true${present} })\n`;
}

function checkOf(attribute: Attribute, table: string): string {
  const check = attribute.kind.check?.(attribute);
  if (!check) return '';
  const [rule, condition] = check;
  return `@Check('${table}_${attribute.name}_${rule}', ${JSON.stringify(condition)})\n`;
}

function columnOf(attribute: Attribute, plan: Plan, references: Reference[]): string {
  const { name, kind, nullable, fallback } = attribute;
  const reference = references.find((one) => one.attribute === attribute);
  if (reference) return referenceOf(reference, plan);
  const { options, comment } = kind.column(attribute);
  const given =
    fallback === undefined || fallback === null
      ? []
      : [`default: ${defaultOf(attribute, fallback, plan.names.entity)}`];
  const all = [options, ...(nullable ? ['nullable: true'] : []), ...given].join(', ');
  const only = /^type: ('\w+')$/.exec(all)?.[1];
  const type = `${kind.columnType ?? kind.type(attribute, plan.names.entity)}${nullable ? ' | null' : ''}`;
  return `${comment ? `/** ${comment} */\n` : ''}  @Column(${only ?? `{ ${all} }`})\n  ${name}: ${type};\n`;
}

/** TypeORM expects quotes around numbers, which PostgreSQL keeps around integers and negative numbers alone. */
function defaultOf(attribute: Attribute, value: Json, entity: string): string {
  const code = literal(attribute, value, entity);
  return typeof value === 'number' && value > 0 && !Number.isInteger(value) ? `() => '${code}'` : code;
}

function referenceOf({ column, attribute, to, onDelete }: Reference, { names }: Plan): string {
  const nullable = attribute?.nullable;
  const comment = onDelete === 'CASCADE' ? `/** Deleting the ${to.names.word} deletes its ${names.words}. */\n` : '';
  return `  @Column(${nullable ? `{ type: 'bigint', nullable: true }` : plainLiteral('bigint')})
  ${column}: number${nullable ? ' | null' : ''};

  ${comment}@ManyToOne(() => ${to.names.entity}, { onDelete: '${onDelete}' })
  @JoinColumn({ name: '${column}', foreignKeyConstraintName: '${names.table}_${column}_fkey' })
  ${column.replace(/_id$/, '')}?: Relation<${to.names.entity}>;
`;
}

function deletion({ names }: Plan): string {
  return `  /** Set when the ${names.word} was deleted. The row is hidden then. */
  @DeleteDateColumn({ type: 'timestamptz', precision: 3, nullable: true })
  deleted_at: Date | null;
`;
}
