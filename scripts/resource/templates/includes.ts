import type { Plan } from '../plan';
import { type Existing, idOf } from '../project';
import { type Imports, referencesOf } from './source';

const READERS = { public: `'everyone'`, user: 'Role.USER', owner: 'Role.USER', admin: 'Role.ADMIN' };

/** The rows that a resource includes, by their columns. */
const includedBy = (plan: Plan): { name: string; to: Existing }[] =>
  referencesOf(plan)
    .filter(({ to }) => to.included)
    .map(({ column, to }) => ({ name: column.replace(/_id$/, ''), to }));

/** Above the DTO. */
export function includesOf(plan: Plan): string {
  const pairs = includedBy(plan).map(({ name, to }) => `${name}: ${to.included!.name}`);
  return pairs.length > 0 ? `@Includes({ ${pairs.join(', ')} })\n` : '';
}

/** How other resources include its rows. Nothing if nobody can include those of its parent, by whose rule they are hidden. */
export function includableOf(plan: Plan): string {
  const { names, parent, read } = plan;
  if (parent && !parent.included) return '';
  const { entity, noun } = names;
  const list = parent && `(id) => \`${parent.names.noun}/\${id}/${noun}\``;
  const options = [
    `readers: ${READERS[read]}`,
    `toDto: to${entity}Dto`,
    ...(read === 'owner' ? ['where: onlyOwn'] : []),
    ...(parent
      ? [`belongsTo: { rows: ${parent.included!.name}, as: '${noun}', by: '${idOf(parent)}', list: ${list} }`]
      : []),
  ];
  return `\nexport const included${entity} = includable(${entity}, ${entity}Dto, { ${options.join(', ')} });\n`;
}

/** In the order of their paths. */
export function importsOfIncludes(plan: Plan): Imports {
  const all = [...includedBy(plan).map(({ to }) => to), ...(plan.parent?.included ? [plan.parent] : [])];
  const places = all.map(({ names, included }): [string, string] => [
    `../${names.noun}/${included!.file}`,
    included!.name,
  ]);
  return [...new Map(places)].sort().map(([place, name]): Imports[number] => [place, [name]]);
}
