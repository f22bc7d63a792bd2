import { type Attribute, KINDS } from '../kinds';
import { nestedClassOf } from '../kinds/structures';
import type { Plan } from '../plan';
import { importsOfIncludes, includableOf, includesOf } from './includes';
import { enumOf, filterableOf, type Imports, literal, plainLiteral, referencesOf, withImports } from './source';

export function dtoFile(plan: Plan): string {
  const { names, attributes, owner, search } = plan;
  const { entity, plural, one, words, word, aWord } = names;
  const given = referencesOf(plan).filter(({ attribute }) => !attribute);
  const code = `
${attributes.map((attribute) => nestedClass(attribute, entity)).join('\n')}
/** The attributes of ${aWord} that callers may read. A new column stays private until it is listed here. */
${includesOf(plan)}export class ${entity}Dto extends ResourceDto {
${given.map(({ column, to }) => idAttribute(column, column === 'user_id' && owner ? 'owner: the id of a user' : `id of the ${to.names.word}`)).join('\n')}
${attributes.map((attribute) => attributeOf(attribute, entity)).join('\n')}
}

/** What a new ${word} is made of; a complete ${word}, for a replacement. */
export class Create${entity}Dto extends InputOf(${entity}Dto, {
  required: [${attributes
    .filter(({ fallback }) => fallback === undefined)
    .map(({ name }) => `'${name}'`)
    .join(', ')}],
  defaults: {${attributes.flatMap((attribute) => (attribute.fallback === undefined ? [] : [`${attribute.name}: ${literal(attribute, attribute.fallback, entity)}`])).join(', ')}},
}) {}

/** The attributes to change. */
export class Patch${entity}Dto extends PartialType(Create${entity}Dto, { skipNullProperties: false }) {}

/** What a collection of ${words} can be asked for. */
export class List${plural}Query extends ${search ? listQuery(plan) : `OmitType(${listQuery(plan)}, ['search'])`} {${ownersParameter(plan)}}

export const to${entity}Dto = (${one}: ${entity}): ${entity}Dto =>
  resourceOf(${one}, {
${[...given.map(({ column }) => column), ...attributes.map((attribute) => shownOf(attribute, plan))]
  .map((shown) => (shown.includes(':') ? `    ${shown},` : `    ${shown}: ${one}.${shown},`))
  .join('\n')}
  });
${includableOf(plan)}`;
  const decorators = [
    ...[
      'BigInteger',
      'DateOnly',
      'Decimal',
      'EmailAddress',
      'Flag',
      'Id',
      'JsonObject',
      'ListOf',
      'ListOfIds',
      'ListOfTexts',
    ],
    ...['Moment', 'Money', 'ObjectOf', 'OneOf', 'SomeOf', 'Text', 'Uuid', 'WebAddress', 'Whole'],
  ];
  const enums = attributes.filter(({ options }) => options.length > 0).map((attribute) => enumOf(attribute, entity));
  const imports: Imports = [
    ['@nestjs/swagger', ['OmitType', 'PartialType']],
    [
      '../../platform',
      [
        'includable',
        'Includes',
        'onlyOwn',
        'Role',
        'IdParameter',
        'InputOf',
        'ListQueryOf',
        'ResourceDto',
        'resourceOf',
        ...decorators,
      ],
    ],
    ...importsOfIncludes(plan),
    [`./${names.file}.entity`, [entity, ...enums]],
  ];
  return withImports(code, imports);
}

function listQuery(plan: Plan): string {
  const { names, attributes } = plan;
  const status = attributes.find(({ name }) => name === 'status');
  const statuses = status ? `, statuses: ${enumOf(status, names.entity)}` : '';
  const filterable = filterableOf(plan).map((name) => plainLiteral(name));
  return `ListQueryOf(${names.entity}Dto, { sortable: ${names.entity}${statuses}, filterable: [${filterable.join(', ')}] })`;
}

/** The value of the row. A column of objects has them as any objects. */
function shownOf(attribute: Attribute, { names }: Plan): string {
  const { name, kind, nullable } = attribute;
  if (kind.columnType === undefined) return name;
  return `${name}: ${names.one}.${name} as ${kind.type(attribute, names.entity)}${nullable ? ' | null' : ''}`;
}

/** The class of a nested object. */
function nestedClass(attribute: Attribute, entity: string): string {
  if (attribute.attributes.length === 0) return '';
  const { name, attributes } = attribute;
  return `/** The attributes of \`${name}\`. */
export class ${nestedClassOf(attribute, entity)} {
${attributes.map((one) => attributeOf(one, entity, true)).join('\n')}
}
`;
}

/** For lists that administrators see all of, and users their own. */
function ownersParameter({ names, read, parent }: Plan): string {
  if (read !== 'owner' || parent) return '';
  return `
  @IdParameter('Only the ${names.words} of this user. Another user than oneself is for administrators.')
  userId?: number;
`;
}

const idAttribute = (name: string, text: string) => `  /** The ${text}. @example 1 */\n  @Id()\n  ${name}: number;\n`;

/** The greatest length of a line, as .prettierrc has it. */
const MAX_LINE = 120;

/** @param isNested whether it says its default itself, and the names of an enum */
function attributeOf(attribute: Attribute, entity: string, isNested = false): string {
  const { kind, name, nullable, fallback, options: names } = attribute;
  const { name: decorator, first, options } = kind.decorator(attribute, entity);
  const isOwnEnum = isNested && kind === KINDS.enum;
  const all = [
    ...options,
    ...(nullable ? ['nullable: true'] : []),
    ...(isNested && fallback !== undefined ? [`default: ${plainLiteral(fallback)}`] : []),
  ];
  const before = isOwnEnum ? plainLiteral(names) : first;
  const taken = [...(before ? [before] : []), ...(all.length > 0 ? [`{ ${all.join(', ')} }`] : [])];
  const type = isOwnEnum ? names.map((one) => `'${one}'`).join(' | ') : kind.type(attribute, entity);
  return `${commentOf(kind.describe(attribute), exampleOf(attribute))}
  @${decorator}(${taken.join(', ')})
  ${name}: ${type}${nullable ? ' | null' : ''};
`;
}

function commentOf(text: string, example: string): string {
  const line = `  /** ${text} @example ${example} */`;
  return line.length <= MAX_LINE ? line : `  /**\n   * ${text}\n   * @example ${example}\n   */`;
}

/** As the document takes it from a comment: a text without blanks as it is, and anything else as JSON. */
function exampleOf(attribute: Attribute): string {
  const { kind, attributes } = attribute;
  const all = JSON.stringify(kind.example(attribute, 1));
  const required = { ...attribute, attributes: attributes.filter(({ fallback }) => fallback === undefined) };
  const text = all.length > MAX_LINE ? JSON.stringify(kind.example(required, 1)) : all;
  return /^"[A-Za-z_][\w-]*"$/.test(text) ? text.slice(1, -1) : text;
}
