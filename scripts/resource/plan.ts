import { existsSync } from 'node:fs';
import { attributeOf } from './attribute';
import { type Attribute, KINDS } from './kinds';
import { nestedClassOf } from './kinds/structures';
import { camel, type Names, namesOf, pascal, singularOf } from './names';
import { type Existing, idOf, isGuarded, RESOURCES } from './project';
import { enumOf } from './templates/source';
import { className, helperName, platformAttribute, reservedNoun } from './reserved';

/** What the command asks for. */
export interface Wish {
  noun: string;
  /** If the command can't tell it: `person` for `people`. */
  singular?: string;
  attributes: string[];
  in?: string;
  owner?: boolean;
  read?: string;
  write?: string;
  softDelete?: boolean;
  search?: boolean;
}

/** A resource that can be written. */
export interface Plan {
  names: Names;
  attributes: Attribute[];
  /** The resources that attributes refer to, and users if there is an owner. */
  targets: Existing[];
  parent?: Existing;
  owner: boolean;
  /** `owner` shows a row to its owner and to administrators only. */
  read: 'public' | 'user' | 'admin' | 'owner';
  write: 'user' | 'admin' | 'owner';
  softDelete: boolean;
  search: boolean;
}

/** All that is wrong with a wish. Nothing has been changed. */
export class Refusal extends Error {
  constructor(readonly problems: string[]) {
    super(problems.map((problem) => `- ${problem}`).join('\n'));
  }
}

const NOUN = /^[a-z]+(?:-[a-z]+)*$/;
const MAX_NOUN = 30;
/** A constraint's name has at most 63 bytes: the table, an attribute, and `_row_id_fkey`. */
const MAX_CONSTRAINT = 63 - '__row_id_fkey'.length;
/** A text that has room for the texts of the search's tests, and for what people search for. */
const SEARCHABLE_LENGTH = 14;
/** The shortest text of these tests. */
const SEARCHED_LENGTH = 4;
/** With a number behind it, which makes it unique. */
const SEARCHABLE_UNIQUE_LENGTH = 20;
const READS = ['public', 'user', 'admin'];
const WRITES = ['user', 'admin'];

/**
 * @param exists whether there is such a file
 * @throws {Refusal}
 */
export function planOf(wish: Wish, resources: Existing[], exists: (path: string) => boolean = existsSync): Plan {
  const parts = wish.attributes.map((text) => attributeOf(text, resources, wish.noun));
  const attributes = parts.flatMap(({ attribute }) => attribute ?? []);
  const parent = resources.find(({ names }) => names.noun === wish.in);
  const problems = [
    ...problemsOfNoun(wish, resources, exists),
    ...parts.flatMap((part) => part.problems),
    ...problemsOfAll(wish, attributes, parent),
    ...problemsOfAccess(wish, parent),
    ...problemsOfParent(wish, parent),
    ...problemsOfReferences(wish, attributes, resources),
  ];
  if (problems.length > 0) throw new Refusal(problems);
  const targets = [...attributes.map(({ target }) => target), wish.owner ? 'users' : undefined];
  const hasRoom = attributes.some(isSearchable);
  return {
    names: namesOf(wish.noun, (wish.singular ?? singularOf(wish.noun))!),
    ...{ attributes, parent, owner: wish.owner ?? false, softDelete: wish.softDelete ?? false },
    targets: resources.filter(({ names }) => targets.includes(names.noun)),
    read: (wish.read ?? usualRead(wish, parent)) as Plan['read'],
    write: (wish.owner ? 'owner' : (wish.write ?? 'admin')) as Plan['write'],
    search: hasRoom && (wish.search ?? true),
  };
}

/** Whether a text can carry what the tests search for. */
export const isSearchable = ({ kind, min, max, unique }: Attribute): boolean =>
  (kind.isText ?? false) && min <= SEARCHED_LENGTH && max >= (unique ? SEARCHABLE_UNIQUE_LENGTH : SEARCHABLE_LENGTH);

function usualRead({ owner }: Wish, parent?: Existing): Plan['read'] {
  return owner ? 'owner' : (parent?.read ?? 'public');
}

function problemsOfNoun({ noun, singular }: Wish, resources: Existing[], exists: (path: string) => boolean): string[] {
  if (!NOUN.test(noun) || noun.length > MAX_NOUN) {
    return [`${noun}: must be a noun of at most ${MAX_NOUN} small letters, with hyphens between words`];
  }
  const reserved = reservedNoun(noun);
  if (reserved) return [`${noun}: ${reserved}`];
  const one = singular ?? singularOf(noun);
  if (one === undefined) return [`${noun}: isn't a regular plural, such as invoices; name its singular by --singular`];
  if (!NOUN.test(one) || one === noun) return [`--singular ${one}: must be another noun of small letters`];
  const helpers = [noun, one].map((name) => helperName(camel(name)));
  const problems = [reservedNoun(one), className(pascal(one)), ...helpers].flatMap((problem) =>
    problem ? [`${noun}: its singular ${one} ${problem}`] : [],
  );
  const twin = resources.find(({ names }) => names.file === one && names.noun !== noun);
  if (twin) problems.push(`${noun}: ${twin.names.noun} has the singular ${one} already`);
  const files = [
    `${RESOURCES}/${noun}`,
    `src/demo/${noun}.ts`,
    `test/resources/${noun}.spec.ts`,
    `test/support/resources/${noun}.ts`,
    `test/support/examples/resources/${noun}`,
  ];
  return [...problems, ...files.filter((path) => exists(path)).map((path) => `${noun}: ${path} exists already`)];
}

function problemsOfAll({ owner, noun }: Wish, attributes: Attribute[], parent?: Existing): string[] {
  const names = attributes.map(({ name }) => name);
  const taken = [...(owner ? ['user_id'] : []), ...(parent ? [idOf(parent)] : [])];
  const twice = [...new Set(names.filter((name, index) => names.indexOf(name) !== index))];
  const references = attributes.filter(({ kind }) => kind === KINDS.reference).map(({ name }) => name);
  // An entity has the row that an id names as a property.
  const rows = [...taken, ...references].map((column) => column.replace(/_id$/, ''));
  return [
    ...(new Set(taken).size < taken.length
      ? [`--in ${parent!.names.noun}: its id is user_id, as that of the owner`]
      : []),
    ...rows.flatMap((name) =>
      platformAttribute(name) ? [`${name}_id: its row ${name} ${platformAttribute(name)}`] : [],
    ),
    ...namesTwice(attributes),
    ...names.filter((name) => rows.includes(name)).map((name) => `${name}: is the row of ${name}_id`),
    ...[...names, ...taken]
      .filter((name) => noun.length + name.length > MAX_CONSTRAINT)
      .map((name) => `${name}: is too long beside ${noun}`),
    ...names.filter((name) => name === 'user' && owner).map(() => 'user: is the owner'),
    ...twice.map((name) => `${name}: stands twice`),
    ...names.filter((name) => taken.includes(name)).map((name) => `${name}: comes from --owner or --in`),
    ...(attributes.every(({ fallback }) => fallback !== undefined)
      ? [`${noun}: needs at least one attribute that is neither null nor has a default`]
      : []),
  ];
}

/** Classes of nested objects and enums that would have one name. */
function namesTwice(attributes: Attribute[]): string[] {
  const classes = attributes.flatMap((one) => [
    ...(one.attributes.length > 0 ? [nestedClassOf(one, '')] : []),
    ...(one.options.length > 0 ? [enumOf(one, '')] : []),
  ]);
  const twice = classes.filter((name, index) => classes.indexOf(name) !== index);
  return twice.map((name) => `${name}: two attributes would have a class of this name`);
}

function problemsOfAccess({ owner, read, write }: Wish, parent?: Existing): string[] {
  const problems: string[] = [];
  if (read !== undefined && !READS.includes(read)) problems.push(`--read ${read}: must be ${READS.join(', ')}`);
  if (write !== undefined && !WRITES.includes(write)) problems.push(`--write ${write}: must be ${WRITES.join(', ')}`);
  if (owner && (read === 'admin' || write === 'admin')) {
    problems.push('--owner: owners read and write their own, so --read admin and --write admin contradict it');
  }
  if (!owner && read === 'admin' && write === 'user') problems.push('--write user: users must be able to read it too');
  // Its users would write below rows that they may not read.
  if (parent?.read === 'admin' && (owner || write === 'user')) {
    problems.push(`--in ${parent.names.noun}: only administrators read them, so only administrators can write below`);
  }
  const open = READS.indexOf(read ?? 'admin');
  if (parent && read !== undefined && open < READS.indexOf(parent.read)) {
    problems.push(`--read ${read}: ${parent.names.noun} are not open to as many callers`);
  }
  return problems;
}

/** Their services must be there to ask. What only administrators read, only they may name. */
function problemsOfReferences({ owner, write }: Wish, attributes: Attribute[], resources: Existing[]): string[] {
  return attributes.flatMap(({ name, target }) => {
    const to = resources.find(({ names }) => names.noun === target);
    if (to?.read === 'admin' && (owner || write === 'user')) {
      return [`${name}: only administrators read ${to.names.noun}, so only administrators can write it`];
    }
    if (!to || !isGuarded(to) || to.getTakesCaller !== undefined) return [];
    return [`${name}: ${to.names.plural}Module must export ${to.names.plural}Service with get(id)`];
  });
}

function problemsOfParent({ in: noun, noun: child }: Wish, parent?: Existing): string[] {
  if (noun === undefined) return [];
  if (!parent) return [`--in ${noun}: there is no such resource`];
  if (parent.shown.includes(child) || parent.shown.includes(child.replaceAll('-', '_'))) {
    return [`--in ${noun}: has an attribute or an included row ${child} already`];
  }
  if (parent.getTakesCaller === undefined || !parent.readStatuses) {
    return [`--in ${noun}: ${parent.names.plural}Module must export ${parent.names.plural}Service with get(id)`];
  }
  return [];
}
