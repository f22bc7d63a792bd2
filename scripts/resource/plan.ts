import { existsSync } from 'node:fs';
import { attributeOf } from './attribute';
import type { Attribute } from './kinds';
import { type Names, namesOf, singularOf } from './names';
import { type Existing, idOf, RESOURCES } from './project';
import { reservedNoun } from './reserved';

/** What the command asks for. */
export interface Wish {
  noun: string;
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
/** A constraint's name has at most 63 bytes: this, an attribute, and a rule. */
const MAX_NOUN = 30;
/** A text that has room for the texts of the search's tests, and for what people search for. */
const SEARCHABLE_LENGTH = 14;
const READS = ['public', 'user', 'admin'];
const WRITES = ['user', 'admin'];

/**
 * @param exists whether there is such a file
 * @throws {Refusal}
 */
export function planOf(wish: Wish, resources: Existing[], exists: (path: string) => boolean = existsSync): Plan {
  const parts = wish.attributes.map((text) => attributeOf(text, resources));
  const attributes = parts.flatMap(({ attribute }) => attribute ?? []);
  const parent = resources.find(({ names }) => names.noun === wish.in);
  const problems = [
    ...problemsOfNoun(wish, resources, exists),
    ...parts.flatMap((part) => part.problems),
    ...problemsOfAll(wish, attributes, parent),
    ...problemsOfAccess(wish, parent),
    ...problemsOfParent(wish, parent),
  ];
  if (problems.length > 0) throw new Refusal(problems);
  const targets = [...attributes.map(({ target }) => target), wish.owner ? 'users' : undefined];
  const hasRoom = attributes.some(({ kind, max }) => kind.isText && max >= SEARCHABLE_LENGTH);
  return {
    names: namesOf(wish.noun, singularOf(wish.noun)!),
    ...{ attributes, parent, owner: wish.owner ?? false, softDelete: wish.softDelete ?? false },
    targets: resources.filter(({ names }) => targets.includes(names.noun)),
    read: (wish.read ?? usualRead(wish, parent)) as Plan['read'],
    write: (wish.owner ? 'owner' : (wish.write ?? 'admin')) as Plan['write'],
    search: hasRoom && (wish.search ?? true),
  };
}

function usualRead({ owner }: Wish, parent?: Existing): Plan['read'] {
  return owner ? 'owner' : (parent?.read ?? 'public');
}

function problemsOfNoun({ noun }: Wish, resources: Existing[], exists: (path: string) => boolean): string[] {
  if (!NOUN.test(noun) || noun.length > MAX_NOUN) {
    return [`${noun}: must be a noun of at most ${MAX_NOUN} small letters, with hyphens between words`];
  }
  const reserved = reservedNoun(noun);
  if (reserved) return [`${noun}: ${reserved}`];
  const one = singularOf(noun);
  if (one === undefined) return [`${noun}: must be a regular plural, such as invoices or credit-notes`];
  const problems = [reservedNoun(one)].flatMap((problem) =>
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
  return [
    ...twice.map((name) => `${name}: stands twice`),
    ...names.filter((name) => taken.includes(name)).map((name) => `${name}: comes from --owner or --in`),
    ...(attributes.every(({ fallback }) => fallback !== undefined)
      ? [`${noun}: needs at least one attribute that is neither null nor has a default`]
      : []),
  ];
}

function problemsOfAccess({ owner, read, write }: Wish, parent?: Existing): string[] {
  const problems: string[] = [];
  if (read !== undefined && !READS.includes(read)) problems.push(`--read ${read}: must be ${READS.join(', ')}`);
  if (write !== undefined && !WRITES.includes(write)) problems.push(`--write ${write}: must be ${WRITES.join(', ')}`);
  if (owner && (read === 'admin' || write === 'admin')) {
    problems.push('--owner: owners read and write their own, so --read admin and --write admin contradict it');
  }
  if (!owner && read === 'admin' && write === 'user') problems.push('--write user: users must be able to read it too');
  const open = READS.indexOf(read ?? 'admin');
  if (parent && read !== undefined && open < READS.indexOf(parent.read)) {
    problems.push(`--read ${read}: ${parent.names.noun} are not open to as many callers`);
  }
  return problems;
}

function problemsOfParent({ in: noun }: Wish, parent?: Existing): string[] {
  if (noun === undefined) return [];
  if (!parent) return [`--in ${noun}: there is no such resource`];
  if (parent.getTakesCaller === undefined || !parent.readStatuses) {
    return [`--in ${noun}: ${parent.names.plural}Module must export ${parent.names.plural}Service with get(id)`];
  }
  return [];
}
