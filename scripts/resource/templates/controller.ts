import { sentence } from '../names';
import type { Plan } from '../plan';
import { type Access, accessOf } from './access';
import { type Imports, listed, plainLiteral, searchableOf, withImports } from './source';

/** The routes of one row; and those of the collection, unless the collection is below a parent. */
export function controllerFile(plan: Plan): string {
  const { names, parent } = plan;
  const access = accessOf(plan);
  const routes = [...(parent ? [] : [list]), get, ...(parent ? [] : [create]), replace, update, remove];
  const code = `
@ApiResource('${sentence(names.words)}'${parent ? '' : `, '${sentence(names.words)}.'`})
@Controller('${names.noun}')
export class ${names.plural}Controller {
  constructor(private readonly ${names.many}: ${names.plural}Service) {}

${routes.map((route) => route(plan, access)).join('\n\n')}
}
`;
  return withImports(code, importsOf(plan));
}

export const nestedFileOf = ({ names, parent }: Plan): string => `${parent!.names.file}-${names.noun}.controller`;
export const nestedClassOf = ({ names, parent }: Plan): string => `${parent!.names.entity}${names.plural}Controller`;

/** The routes of the collection below its parent. */
export function nestedControllerFile(plan: Plan): string {
  const { names, parent } = plan;
  const access = accessOf(plan);
  const code = `
@ApiResource('${sentence(names.words)}', '${sentence(names.words)} of ${parent!.names.words}.')
@Controller('${parent!.names.noun}/:id/${names.noun}')
export class ${nestedClassOf(plan)} {
  constructor(private readonly ${names.many}: ${names.plural}Service) {}

${[list, create].map((route) => route(plan, access)).join('\n\n')}
}
`;
  return withImports(code, importsOf(plan));
}

function importsOf({ names }: Plan): Imports {
  const { entity, plural, file, noun } = names;
  const face = [
    ...['alreadyTaken', 'Answers', 'AnswersNothing', 'AnswersPage', 'ApiExampleBody', 'ApiResource', 'type Caller'],
    ...['Creates', 'CurrentUser', 'IdParam', 'IfMatch', 'notTheOwner', 'type Page', 'type Precondition', 'Prefetches'],
    ...['Public', 'Raises', 'Role', 'Roles'],
  ];
  const dtos = [`Create${entity}Dto`, `List${plural}Query`, `Patch${entity}Dto`, `${entity}Dto`, `to${entity}Dto`];
  return [
    ['@nestjs/common', ['Body', 'Controller', 'Delete', 'Get', 'Patch', 'Post', 'Put', 'Query']],
    ['../../platform', face],
    [`./${file}.dto`, dtos],
    [`./${file}.entity`, [entity]],
    [`./${noun}.service`, [`${plural}Service`]],
  ];
}

const comment = (text: string, remarks: string) =>
  remarks.includes('\n') || text.length + remarks.length > 100
    ? `  /**\n   * ${text}\n   * @remarks ${remarks}\n   */`
    : `  /** ${text}${remarks ? ` @remarks ${remarks}` : ''} */`;

const raises = (...errors: (string | false)[]) => {
  const named = errors.filter(Boolean);
  return named.length > 0 ? `  @Raises(${named.join(', ')})\n` : '';
};

const taken = ({ attributes }: Plan) =>
  attributes.filter(({ unique }) => unique).map(({ name }) => `alreadyTaken('${name}')`);

const reader = ({ reader }: Access) =>
  reader === 'Caller' ? '@CurrentUser() caller: Caller' : '@CurrentUser() caller?: Caller';

function list(plan: Plan, access: Access): string {
  const { names, parent, read } = plan;
  const { entity, plural, many, words } = names;
  const searched = searchableOf(plan).map((name) => `\`${name}\``);
  const remarks = [
    ...(read === 'owner' ? ['Users see their own, administrators all.'] : []),
    ...(searched.length > 0 ? [`\`search\` looks through ${listed(searched)}.`] : []),
  ].join(' ');
  const given = [...(parent ? [access.parentId] : []), 'query', ...(access.readTakesCaller ? ['caller'] : [])];
  return `${comment(parent ? `Lists the ${words} of ${parent.names.aWord}.` : `Lists ${words}.`, remarks)}
  @Get()
  ${access.reads}
  @AnswersPage(${entity}Dto)
${raises((parent ? (parent.isPrivate ?? false) : read === 'owner') && 'notTheOwner()')}  async list(${[
    ...(parent ? [`@IdParam() ${access.parentId}: number`] : []),
    `@Query() query: List${plural}Query`,
    ...(access.readTakesCaller ? [reader(access)] : []),
  ].join(', ')}): Promise<Page<object>> {
    return (await this.${many}.list(${given.join(', ')})).map(to${entity}Dto);
  }`;
}

function get({ names }: Plan, access: Access): string {
  const { entity, many, word } = names;
  const caller = access.readTakesCaller ? `, ${reader(access)}` : '';
  return `  /** Reads one ${word}. */
  @Get(':id')
  ${access.reads}
  @Answers(${entity}Dto)
  @Prefetches(${entity})
${raises(access.readIsPrivate && 'notTheOwner()')}  async get(@IdParam() id: number${caller}): Promise<${entity}Dto> {
    return to${entity}Dto(await this.${many}.get(id${access.readTakesCaller ? ', caller' : ''}));
  }`;
}

function create(plan: Plan, access: Access): string {
  const { names, parent } = plan;
  const { entity, many, aWord } = names;
  const isRefused = (parent?.isPrivate ?? false) && plan.write !== 'admin';
  const given = [...(parent ? [access.parentId] : []), ...['input', ...(access.createTakesCaller ? ['caller'] : [])]];
  return `  /** Creates ${aWord}. */
  @Post()
  ${access.writes}
  @Creates(${entity}Dto)
${raises(isRefused && 'notTheOwner()', ...taken(plan))}  async create(${[
    ...(parent ? [`@IdParam() ${access.parentId}: number`] : []),
    `@Body() input: Create${entity}Dto`,
    ...(access.createTakesCaller ? ['@CurrentUser() caller: Caller'] : []),
  ].join(', ')}): Promise<${entity}Dto> {
    return to${entity}Dto(await this.${many}.create(${given.join(', ')}));
  }`;
}

function replace(plan: Plan, access: Access): string {
  const { attributes, names } = plan;
  const required = attributes.filter(({ fallback, target }) => fallback === undefined && !target);
  const isTaken = attributes.some(({ unique }) => unique);
  const references = attributes.filter(({ fallback, target }) => fallback === undefined && target);
  const body = [
    ...required.map((one) => `${one.name}: ${plainLiteral(one.kind.example(one, 2))}`),
    ...references.map(({ name }) => `${name}: 1`),
  ];
  return `${comment(`Replaces ${names.aWord}.`, 'Attributes that are left out take their default.')}
  @Put(':id')
${changing(plan, access, isTaken ? `{ ${body.join(', ')} }` : '')}  async replace(${written(plan, access, `input: Create${names.entity}Dto`)}): Promise<${names.entity}Dto> {
    return to${names.entity}Dto(await this.${names.many}.update(id, input${access.writeTakesCaller ? ', caller' : ''}, expected));
  }`;
}

function update(plan: Plan, access: Access): string {
  const { names } = plan;
  return `  /** Changes some attributes of ${names.aWord}. */
  @Patch(':id')
${changing(plan, access, exampleOfChange(plan))}  async update(${written(plan, access, `changes: Patch${names.entity}Dto`)}): Promise<${names.entity}Dto> {
    return to${names.entity}Dto(await this.${names.many}.update(id, changes${access.writeTakesCaller ? ', caller' : ''}, expected));
  }`;
}

function changing(plan: Plan, access: Access, example: string): string {
  return `  ${access.writes}
  @Answers(${plan.names.entity}Dto)
${example ? `  @ApiExampleBody(${example})\n` : ''}${raises(access.writeIsPrivate && 'notTheOwner()', ...taken(plan))}`;
}

const written = (_plan: Plan, { writeTakesCaller, removeTakesCaller }: Access, body: string) =>
  [
    '@IdParam() id: number',
    ...(body ? [`@Body() ${body}`] : []),
    ...((body ? writeTakesCaller : removeTakesCaller) ? ['@CurrentUser() caller: Caller'] : []),
    '@IfMatch() expected?: Precondition',
  ].join(', ');

/** One attribute, rather a number or a name than a text. */
export function exampleOfChange({ attributes }: Plan): string {
  const free = attributes.filter(({ unique, target }) => !unique && !target);
  const one = free.find(({ kind }) => !kind.isText) ?? free[0];
  if (!one) return '';
  const value = one.kind.example(one, 2);
  return `{ ${one.name}: ${plainLiteral(value)} }`;
}

function remove(plan: Plan, access: Access): string {
  const { names } = plan;
  return `  /** Deletes ${names.aWord}. */
  @Delete(':id')
  ${access.writes}
  @AnswersNothing()
${raises(access.writeIsPrivate && 'notTheOwner()')}  remove(${written(plan, access, '')}): Promise<void> {
    return this.${names.many}.remove(id${access.removeTakesCaller ? ', caller' : ''}, expected);
  }`;
}
