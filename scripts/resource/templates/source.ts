import { pascal } from '../names';
import { type Attribute, type Json, KINDS } from '../kinds';
import { singularName } from '../kinds/structures';
import type { Plan } from '../plan';
import { type Existing, idOf, isGuarded } from '../project';

/** Names that a file may import from a place, in their order; `type` stands before types. */
export type Imports = [place: string, names: string[]][];

/** The code with the imports that it uses: templates don't keep a list of them. */
export function withImports(code: string, imports: Imports): string {
  const words = new Set(withoutTexts(code).match(/\w+/g));
  const lines = imports.flatMap(([place, names]) => {
    const used = names.filter((name) => words.has(name.replace('type ', ''))).sort(byName);
    if (used.length === 0) return [];
    const areTypes = used.every((name) => name.startsWith('type '));
    const list = areTypes ? used.map((name) => name.slice('type '.length)) : used;
    return `import ${areTypes ? 'type ' : ''}{ ${list.join(', ')} } from '${place}';`;
  });
  return `${lines.join('\n')}\n\n${code}`;
}

function byName(one: string, other: string): number {
  const [a, b] = [one, other].map((name) => name.replace('type ', '').toLowerCase());
  return a < b ? -1 : 1;
}

/** Words of comments and texts aren't names. */
function withoutTexts(code: string): string {
  return code.replaceAll(/\/\*\*.*?\*\/|\/\/.*$|'[^'\n]*'|"[^"\n]*"/gms, '');
}

/** A column that refers to another resource. */
export interface Reference {
  column: string;
  /** Undefined in a column that the service fills. */
  attribute?: Attribute;
  to: Existing;
  onDelete: 'CASCADE' | 'RESTRICT' | 'SET NULL';
}

/** The parent, the owner, and the resources of attributes. */
export function referencesOf({ attributes, targets, parent, owner }: Plan): Reference[] {
  const find = (noun: string) => targets.find(({ names }) => names.noun === noun)!;
  return [
    ...(parent ? [{ column: idOf(parent), to: parent, onDelete: 'CASCADE' as const }] : []),
    ...(owner ? [{ column: 'user_id', to: find('users'), onDelete: 'RESTRICT' as const }] : []),
    ...attributes.flatMap((attribute) => {
      if (!attribute.target || attribute.kind !== KINDS.reference) return [];
      const onDelete = attribute.nullable ? ('SET NULL' as const) : ('RESTRICT' as const);
      return [{ column: attribute.name, attribute, to: find(attribute.target), onDelete }];
    }),
  ];
}

/** References to rows that not everybody reads, by the services of their resources. What is public of users everybody may name. */
export function guardedOf({ attributes, targets }: Plan): { attribute: Attribute; to: Existing }[] {
  return attributes.flatMap((attribute) => {
    const to = targets.find(({ names }) => names.noun === attribute.target);
    return to && isGuarded(to) ? [{ attribute, to }] : [];
  });
}

/** The services that a service calls: that of its parent, and those of references. */
export function servicesOf(plan: Plan): Existing[] {
  const all = [...(plan.parent ? [plan.parent] : []), ...guardedOf(plan).map(({ to }) => to)];
  return all.filter((one, index) => all.indexOf(one) === index);
}

/** The attributes that lists are sorted by. */
export function sortableOf(plan: Plan): string[] {
  const own = plan.attributes.filter((one) => one.kind.canBeSorted(one)).map(({ name }) => name);
  const ids = referencesOf(plan).flatMap(({ column, attribute }) => (attribute ? [] : [column]));
  return [...ids, ...own, 'created_at', 'updated_at'];
}

export const searchableOf = ({ search, attributes }: Plan): string[] =>
  search ? attributes.filter(({ kind }) => kind.isText).map(({ name }) => name) : [];

export const hasStatus = ({ attributes }: Plan): boolean => attributes.some(({ name }) => name === 'status');

/** The attributes besides `status` that lists are filtered by. All of them have an index. Owners who see their own rows only need no filter. */
export function filterableOf({ attributes, owner, read }: Plan): string[] {
  const own = attributes.filter(({ kind, name }) => kind.canBeFiltered && name !== 'status').map(({ name }) => name);
  return [...(owner && read !== 'owner' ? ['user_id'] : []), ...own, 'created_at', 'updated_at'];
}

/** The enum of an attribute: `InvoiceStatus`, `InvoiceUse` for the names of `uses`. */
export function enumOf({ name, kind }: Attribute, entity: string): string {
  return `${entity}${pascal(kind === KINDS.names ? singularName({ name }) : name)}`;
}

/** As code of the service: a text in quotes, names of an enum, a moment, or any other value. */
export function literal(attribute: Attribute, value: Json, entity: string): string {
  const { kind, options } = attribute;
  if (options.length > 0 && Array.isArray(value)) {
    return `[${value.map((one) => `${enumOf(attribute, entity)}.${one as string}`).join(', ')}]`;
  }
  if (options.length > 0 && value !== null) return `${enumOf(attribute, entity)}.${value as string}`;
  if (kind === KINDS.moment && value !== null) return `new Date(${plainLiteral(value)})`;
  return plainLiteral(value);
}

/** As JSON has it, in the form of the source. */
export function plainLiteral(value: Json): string {
  if (typeof value === 'string') return `'${value.replace(/[\\']/g, '\\$&')}'`;
  if (Array.isArray(value)) return `[${value.map(plainLiteral).join(', ')}]`;
  if (value === null || typeof value !== 'object') return String(value);
  const entries = Object.entries(value).map(([name, one]) => `${name}: ${plainLiteral(one)}`);
  return entries.length > 0 ? `{ ${entries.join(', ')} }` : '{}';
}

/** `a`, `a and b`, `a, b and c` */
export function listed(names: string[]): string {
  return names.length > 1 ? `${names.slice(0, -1).join(', ')} and ${names.at(-1)}` : names.join('');
}
