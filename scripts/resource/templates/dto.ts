import type { Attribute } from '../kinds';
import type { Plan } from '../plan';
import { type Imports, literal, referencesOf, withImports } from './source';

export function dtoFile(plan: Plan): string {
  const { names, attributes, owner, search } = plan;
  const { entity, plural, one, words, word, aWord } = names;
  const given = referencesOf(plan).filter(({ attribute }) => !attribute);
  const shown = [...given.map(({ column }) => column), ...attributes.map(({ name }) => name)];
  const code = `
/** The attributes of ${aWord} that callers may read. A new column stays private until it is listed here. */
export class ${entity}Dto extends ResourceDto {
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
${shown.map((name) => `    ${name}: ${one}.${name},`).join('\n')}
  });
`;
  const decorators = ['EmailAddress', 'Id', 'Money', 'OneOf', 'Text', 'Whole'];
  const enums = attributes
    .filter(({ options }) => options.length > 0)
    .map(({ kind, ...one }) => kind.type({ kind, ...one }, entity));
  const imports: Imports = [
    ['@nestjs/swagger', ['OmitType', 'PartialType']],
    ['../../platform', ['IdParameter', 'InputOf', 'ListQueryOf', 'ResourceDto', 'resourceOf', ...decorators]],
    [`./${names.file}.entity`, [entity, ...enums]],
  ];
  return withImports(code, imports);
}

function listQuery({ names, attributes }: Plan): string {
  const status = attributes.find(({ name }) => name === 'status');
  const statuses = status ? `, statuses: ${status.kind.type(status, names.entity)}` : '';
  return `ListQueryOf(${names.entity}Dto, { sortable: ${names.entity}${statuses} })`;
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

function attributeOf(attribute: Attribute, entity: string): string {
  const { kind, name, nullable } = attribute;
  const example = kind.example(attribute, 1);
  const shown = typeof example === 'string' && /\W/.test(example) ? JSON.stringify(example) : example;
  const { name: decorator, first, options } = kind.decorator(attribute, entity);
  const all = [...options, ...(nullable ? ['nullable: true'] : [])];
  const taken = [...(first ? [first] : []), ...(all.length > 0 ? [`{ ${all.join(', ')} }`] : [])];
  return `  /** ${kind.describe(attribute)} @example ${shown} */
  @${decorator}(${taken.join(', ')})
  ${name}: ${kind.type(attribute, entity)}${nullable ? ' | null' : ''};
`;
}
