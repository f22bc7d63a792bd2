import type { Plan } from '../plan';
import { idOf } from '../project';
import { type Access, accessOf } from './access';
import { guardedOf, type Imports, servicesOf, withImports } from './source';

export function serviceFile(plan: Plan): string {
  const { names } = plan;
  const { entity, plural, many } = names;
  const access = accessOf(plan);
  const own = `@InjectRepository(${entity}) private readonly ${many}: Repository<${entity}>`;
  const services = servicesOf(plan).map(({ names }) => names);
  const taken = [own, ...services.map((one) => `private readonly ${one.many}: ${one.plural}Service`)].join(', ');
  const code = `
@Injectable()
export class ${plural}Service {
  constructor(${taken}${services.length > 0 ? ',' : ''}) {}

${[list, get, create, update, remove, referenceCheck].map((part) => part(plan, access)).join('\n\n')}
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
        ...['requireReadable', 'requireSelfOrAdmin', 'updateRow'],
      ],
    ],
    ...services.map(({ noun, plural }): Imports[number] => [`../${noun}/${noun}.service`, [`${plural}Service`]]),
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

function create(plan: Plan, { parentId, createTakesCaller }: Access): string {
  const { names, parent, owner } = plan;
  const { entity, many } = names;
  const checks = [
    ...(parent ? [parentCheck(parent.names.many, parentId!, parent.getTakesCaller)] : []),
    ...referencesChecked(plan, 'input'),
  ];
  const given = [...(parent ? [`${idOf(parent)}: ${parentId}`] : []), ...(owner ? ['user_id: caller.id'] : [])].join(
    ', ',
  );
  const columns = given ? `{ ...input, ${given} }` : 'input';
  return `  ${checks.length > 0 ? 'async ' : ''}create(${parent ? `${parentId}: number, ` : ''}input: Create${entity}Dto${createTakesCaller ? ', caller: Caller' : ''}): Promise<${entity}> {
    ${checks.join('\n')}
    return insertRow(this.${many}.manager, ${entity}, ${columns});
  }`.replace(/\{\n\s*\n/, '{\n');
}

/** What happens before a change: 404 for a row that the caller doesn't see, 403 for another user's row. */
function checkOf({ read, owner, parent }: Plan, { readTakesCaller }: Access): string[] {
  const getting = `await this.get(id${readTakesCaller ? ', caller' : ''})`;
  if (owner && read !== 'owner') return [`requireSelfOrAdmin(caller, (${getting}).user_id);`];
  return owner || parent ? [`${getting};`] : [];
}

/** The call of {@link referenceCheck}. */
const referencesChecked = (plan: Plan, input: string): string[] => {
  const guarded = guardedOf(plan);
  const takesCaller = guarded.some(({ to }) => to.getTakesCaller);
  return guarded.length > 0 ? [`await this.requireReferences(${input}${takesCaller ? ', caller' : ''});`] : [];
};

/** A row that a reference names must be one that the writer may read. */
function referenceCheck(plan: Plan): string {
  const guarded = guardedOf(plan);
  if (guarded.length === 0) return '';
  const takesCaller = guarded.some(({ to }) => to.getTakesCaller);
  const checks = guarded.map(({ attribute: { name }, to }) => {
    const getting = `(id) => this.${to.names.many}.get(id${to.getTakesCaller ? ', caller' : ''})`;
    return `    await requireReadable('${name}', input.${name}, ${getting});`;
  });
  return `  private async requireReferences(input: Patch${plan.names.entity}Dto${takesCaller ? ', caller: Caller' : ''}): Promise<void> {
${checks.join('\n')}
  }`;
}

function update(plan: Plan, access: Access): string {
  const { entity, many } = plan.names;
  const check = [...checkOf(plan, access), ...referencesChecked(plan, 'changes')].join('\n    ');
  const caller = access.writeTakesCaller ? ', caller: Caller' : '';
  return `  ${check ? 'async ' : ''}update(id: number, changes: Patch${entity}Dto${caller}, expected?: Precondition): Promise<${entity}> {
    ${check ? `${check}\n    ` : ''}return updateRow(this.${many}.manager, ${entity}, id, changes, expected);
  }`;
}

function remove(plan: Plan, access: Access): string {
  const { entity, many } = plan.names;
  const check = checkOf(plan, access).join('');
  const caller = access.removeTakesCaller ? ', caller: Caller' : '';
  const removing = plan.softDelete
    ? `updateRow(this.${many}.manager, ${entity}, id, { deleted_at: new Date() }, expected)`
    : `deleteRow(this.${many}.manager, ${entity}, id, expected)`;
  return `  async remove(id: number${caller}, expected?: Precondition): Promise<void> {
    ${check ? `${check}\n    ` : ''}await ${removing};
  }`;
}
