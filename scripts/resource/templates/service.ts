import type { Plan } from '../plan';
import { idOf } from '../project';
import { type Access, accessOf } from './access';
import { type Imports, withImports } from './source';

export function serviceFile(plan: Plan): string {
  const { names, parent } = plan;
  const { entity, plural, many } = names;
  const access = accessOf(plan);
  const own = `@InjectRepository(${entity}) private readonly ${many}: Repository<${entity}>`;
  const taken = parent ? `${own}, private readonly ${parent.names.many}: ${parent.names.plural}Service,` : own;
  const code = `
@Injectable()
export class ${plural}Service {
  constructor(${taken}) {}

${[list, get, create, update, remove].map((part) => part(plan, access)).join('\n\n')}
}
`;
  const imports: Imports = [
    ['@nestjs/common', ['Injectable']],
    ['@nestjs/typeorm', ['InjectRepository']],
    ['typeorm', ['Repository']],
    [
      '../../platform',
      [
        ...[
          'type Caller',
          'deleteRow',
          'insertRow',
          'isAdmin',
          'type Page',
          'paginate',
          'type Precondition',
          'readRow',
        ],
        ...['requireSelfOrAdmin', 'updateRow'],
      ],
    ],
    ...(parent
      ? [[`../${parent.names.noun}/${parent.names.noun}.service`, [`${parent.names.plural}Service`]] as Imports[number]]
      : []),
    [`./${names.file}.dto`, [`type Create${entity}Dto`, `type List${plural}Query`, `type Patch${entity}Dto`]],
    [`./${names.file}.entity`, [entity]],
  ];
  return withImports(code, imports);
}

function list({ names, parent, read }: Plan, { parentId, reader, readTakesCaller }: Access): string {
  const { entity, plural, many } = names;
  const answer = `Promise<Page<${entity}>>`;
  const caller = readTakesCaller ? `, caller: ${reader}` : '';
  if (parent) {
    const owned = read === 'owner' ? ', user_id: isAdmin(caller) ? undefined : caller.id' : '';
    return `  async list(${parentId}: number, query: List${plural}Query${caller}): ${answer} {
    ${parentCheck(parent.names.many, parentId!, parent.getTakesCaller)}
    return paginate(this.${many}, query, { filter: { ${idOf(parent)}: ${parentId}${owned} } });
  }`;
  }
  if (read === 'owner') {
    return `  list({ userId, ...query }: List${plural}Query, caller: Caller): ${answer} {
    if (userId !== undefined) requireSelfOrAdmin(caller, userId);
    return paginate(this.${many}, query, { filter: { user_id: isAdmin(caller) ? userId : caller.id } });
  }`;
  }
  return `  list(query: List${plural}Query): ${answer} {
    return paginate(this.${many}, query);
  }`;
}

const parentCheck = (service: string, id: string, takesCaller = false) =>
  `await this.${service}.get(${id}${takesCaller ? ', caller' : ''});`;

function get({ names, parent, read }: Plan, { reader, readTakesCaller }: Access): string {
  const { entity, one, many } = names;
  const reading = `readRow(this.${many}.manager, ${entity}, id)`;
  const caller = readTakesCaller ? `, caller: ${reader}` : '';
  const checks = [
    ...(read === 'owner' ? [`requireSelfOrAdmin(caller, ${one}.user_id);`] : []),
    ...(parent ? [parentCheck(parent.names.many, `${one}.${idOf(parent)}`, parent.getTakesCaller)] : []),
  ];
  if (checks.length === 0) {
    return `  get(id: number): Promise<${entity}> {
    return ${reading};
  }`;
  }
  return `  async get(id: number${caller}): Promise<${entity}> {
    const ${one} = await ${reading};
    ${checks.join('\n')}
    return ${one};
  }`;
}

function create({ names, parent, owner }: Plan, { parentId, createTakesCaller }: Access): string {
  const { entity, many } = names;
  const given = [...(parent ? [`${idOf(parent)}: ${parentId}`] : []), ...(owner ? ['user_id: caller.id'] : [])].join(
    ', ',
  );
  const columns = given ? `{ ...input, ${given} }` : 'input';
  return `  ${parent ? 'async ' : ''}create(${parent ? `${parentId}: number, ` : ''}input: Create${entity}Dto${createTakesCaller ? ', caller: Caller' : ''}): Promise<${entity}> {
    ${parent ? parentCheck(parent.names.many, parentId!, parent.getTakesCaller) : ''}
    return insertRow(this.${many}.manager, ${entity}, ${columns});
  }`.replace(/\{\n\s*\n/, '{\n');
}

/** What happens before a change: 404 for a row that the caller doesn't see, 403 for another user's row. */
function checkOf({ read, owner, parent }: Plan, { readTakesCaller }: Access): string | undefined {
  const getting = `await this.get(id${readTakesCaller ? ', caller' : ''})`;
  if (owner && read !== 'owner') return `requireSelfOrAdmin(caller, (${getting}).user_id);`;
  return owner || parent ? `${getting};` : undefined;
}

function update(plan: Plan, access: Access): string {
  const { entity, many } = plan.names;
  const check = checkOf(plan, access);
  const caller = access.writeTakesCaller ? ', caller: Caller' : '';
  return `  ${check ? 'async ' : ''}update(id: number, changes: Patch${entity}Dto${caller}, expected?: Precondition): Promise<${entity}> {
    ${check ? `${check}\n    ` : ''}return updateRow(this.${many}.manager, ${entity}, id, changes, expected);
  }`;
}

function remove(plan: Plan, access: Access): string {
  const { entity, many } = plan.names;
  const check = checkOf(plan, access);
  const caller = access.writeTakesCaller ? ', caller: Caller' : '';
  const removing = plan.softDelete
    ? `updateRow(this.${many}.manager, ${entity}, id, { deleted_at: new Date() }, expected)`
    : `deleteRow(this.${many}.manager, ${entity}, id, expected)`;
  return `  async remove(id: number${caller}, expected?: Precondition): Promise<void> {
    ${check ? `${check}\n    ` : ''}await ${removing};
  }`;
}
