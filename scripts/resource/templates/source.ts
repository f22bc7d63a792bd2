import type { Attribute } from '../kinds';
import type { Plan } from '../plan';
import { type Existing, idOf } from '../project';

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
  return code.replaceAll(/\/\*\*.*?\*\/|\/\/.*$|'[^'\n]*'/gms, '');
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
      if (!attribute.target) return [];
      const onDelete = attribute.nullable ? ('SET NULL' as const) : ('RESTRICT' as const);
      return [{ column: attribute.name, attribute, to: find(attribute.target), onDelete }];
    }),
  ];
}

/** The attributes that lists are sorted by. */
export function sortableOf(plan: Plan): string[] {
  const own = plan.attributes.filter((one) => !one.nullable && one.kind.canBeSorted(one)).map(({ name }) => name);
  const ids = referencesOf(plan).flatMap(({ column, attribute }) => (attribute ? [] : [column]));
  return [...ids, ...own, 'created_at', 'updated_at'];
}

export const searchableOf = ({ search, attributes }: Plan): string[] =>
  search ? attributes.filter(({ kind }) => kind.isText).map(({ name }) => name) : [];

export const hasStatus = ({ attributes }: Plan): boolean => attributes.some(({ name }) => name === 'status');

/** As code: a text in quotes, the name of an enum, a number, or null. */
export function literal(attribute: Attribute, value: string | number | null, entity: string): string {
  if (attribute.options.length > 0 && value !== null) return `${attribute.kind.type(attribute, entity)}.${value}`;
  return plainLiteral(value);
}

export function plainLiteral(value: string | number | null): string {
  return typeof value === 'string' ? `'${value.replace(/[\\']/g, '\\$&')}'` : String(value);
}

/** `a`, `a and b`, `a, b and c` */
export function listed(names: string[]): string {
  return names.length > 1 ? `${names.slice(0, -1).join(', ')} and ${names.at(-1)}` : names.join('');
}
