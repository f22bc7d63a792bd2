import { type Attribute, type Kind, KINDS, NAMED } from './kinds';
import { MOST_ITEMS, USUAL_ITEMS } from './kinds/structures';
import type { Existing } from './project';
import { reservedAttribute } from './reserved';

/** `name:kind(bounds)[items]`, then `?` for null, `!unique`, and `=default`. */
const FORM = /^([^:]*):(\{.*\}|[A-Za-z0-9_|-]*)(?:\(([^()]*)\))?(?:(\[)(\d*)\])?(\?)?(!unique)?(?:=(.*))?$/s;
const RANGE = /^(?:(-?\d+)\.\.)?(-?\d+)$/;
const SCALED = /^(\d+),(\d+)$/;
const NAME = /^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/;
const OPTION = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*$/;
const MAX_NAME = 40;
/** The tests of all attributes make about a thousand different values. */
const MIN_UNIQUE_LENGTH = 4;
/** An entry of a B-tree index has at most 2,700 bytes, four for a code point. */
const MAX_UNIQUE_LENGTH = 500;
const MIN_UNIQUE_NUMBERS = 10_000;
const CANNOT_BE_UNIQUE =
  "can't be unique: only text, email and whole can. Leave !unique out, then add a unique index by hand, as " +
  'docs/adding-a-resource.md says of a field';

const NEITHER_NULL_NOR_DEFAULT =
  'must be required to be unique: leave out its ? or default. Or leave !unique out, then add a unique index by hand, as ' +
  'docs/adding-a-resource.md says of a field';

interface Part {
  attribute?: Attribute;
  problems: string[];
}

type Bounds = Pick<Attribute, 'min' | 'max' | 'scale'>;

/**
 * The attribute that a text of the command stands for, or all that is wrong with it.
 * @param noun the resource that gets it, which isn't among the others yet. Default: unknown
 */
export function attributeOf(text: string, resources: Existing[], noun?: string): Part {
  const match = FORM.exec(text);
  if (!match)
    return { problems: [`${text}: must have the form name:kind, such as name:text(120) or note:lines(1000)?`] };
  const [, name, kindName, bounds, list, items, nullable, unique, fallback] = match;
  const target = resources.find(({ names }) => names.noun === kindName);
  const kind = kindOf(kindName, list !== undefined, target !== undefined);
  if (!kind) {
    const problem = kindName === noun ? selfReference(name, noun) : unknownKind(kindName, list !== undefined);
    return { problems: [...problemsOfName(name), `${name}: ${problem}`] };
  }

  const read = kindName.startsWith('{') ? nestedIn(kindName, resources) : { attributes: [], problems: [] };
  const limits = boundsOf(kind, bounds);
  const attribute: Attribute = {
    ...{ name, kind, ...limits.bounds, items: Number(items || USUAL_ITEMS), attributes: read.attributes },
    ...{ options: kindName.includes('|') && !kindName.startsWith('{') ? kindName.split('|') : [] },
    ...{ target: target?.names.noun, nullable: nullable !== undefined, unique: unique !== undefined },
  };
  // Null is allowed, so the shortest text needs no bound of its own.
  if (attribute.nullable && kind.isText && bounds !== undefined && !bounds.includes('..')) attribute.min = 0;
  attribute.fallback = attribute.nullable
    ? null
    : fallback === undefined
      ? kind.fallback
      : kind.read?.(fallback, attribute);
  const problems = [...limits.problems, ...problemsOf(attribute, fallback), ...problemsOfList(attribute, items)];
  const nested = read.problems.map((problem) => `${name}.${problem}`);
  return {
    attribute,
    problems: [...problemsOfName(name), ...problems.map((problem) => `${name}: ${problem}`), ...nested],
  };
}

function problemsOfName(name: string): string[] {
  if (!NAME.test(name) || name.length > MAX_NAME) {
    return [`${name || '(no name)'}: must be small letters and digits, with underscores between words`];
  }
  const reserved = reservedAttribute(name);
  return reserved ? [`${name}: ${reserved}`] : [];
}

function kindOf(name: string, isList: boolean, isResource: boolean): Kind | undefined {
  if (name.startsWith('{')) return isList ? KINDS.objects : KINDS.object;
  if (name.includes('|')) return isList ? KINDS.names : KINDS.enum;
  if (isResource) return isList ? KINDS.references : KINDS.reference;
  if (isList) return name === 'text' ? KINDS.texts : undefined;
  return Object.entries(NAMED).find(([key]) => key === name)?.[1];
}

function unknownKind(name: string, isList: boolean): string {
  const known = Object.values(KINDS).map(({ usage }) => `  ${usage}`);
  const words = isList ? 'is no kind of lists' : 'is neither a kind nor a resource';
  return `${name || '(no kind)'} ${words}. These are the kinds:\n${known.join('\n')}`;
}

const selfReference = (name: string, noun: string): string =>
  `the command writes no reference of ${noun} to themselves. Leave ${name} out, then add it by hand: its column with @ManyToOne() ` +
  'to the entity, and the rest as docs/adding-a-resource.md says of a field';

/** The attributes between the braces of a nested object. */
function nestedIn(text: string, resources: Existing[]): { attributes: Attribute[]; problems: string[] } {
  const texts = splitAtCommas(text.slice(1, -1));
  const parts = texts.map((one) => attributeOf(one.trim(), resources));
  const attributes = parts.flatMap(({ attribute }) => attribute ?? []);
  const names = attributes.map(({ name }) => name);
  const unfit = attributes.filter(({ kind, unique }) => unique || !kind.canBeNested);
  return {
    attributes,
    problems: [
      ...parts.flatMap(({ problems }) => problems),
      ...unfit.map(({ name }) => `${name}: can't stand in a nested object`),
      ...names.filter((name, index) => names.indexOf(name) !== index).map((name) => `${name}: stands twice`),
    ],
  };
}

/** At commas that are in no brackets. */
const splitAtCommas = (text: string) => text.split(/,(?![^(]*\))/);

function boundsOf({ bounds, hasScale, usage }: Kind, text?: string): { bounds: Bounds; problems: string[] } {
  const none = { min: 0, max: 0, scale: 0 };
  if (!bounds) return { bounds: none, problems: text === undefined ? [] : [`takes no bounds; write ${usage}`] };
  const [, digits, decimals] = (hasScale && SCALED.exec(text ?? '')) || [];
  const [, first, last] = (!hasScale && RANGE.exec(text ?? '')) || [];
  const min = Number(first ?? bounds.min);
  const max = Number((hasScale ? digits : last) ?? (text === undefined ? bounds.max : undefined));
  const scale = Number(decimals ?? 0);
  const problems: string[] = [];
  if (Number.isNaN(max))
    problems.push(`needs ${hasScale ? 'its digits and decimals' : 'a greatest length'}; write ${usage}`);
  else if (min < bounds.least || max > bounds.most || max < Math.max(min, 1)) {
    problems.push(`needs bounds from ${bounds.least} to ${bounds.most}, the smaller one first`);
  } else if (hasScale && (scale < 1 || scale > max)) problems.push(`needs 1 to ${max} decimals; write ${usage}`);
  return { bounds: { min, max, scale }, problems };
}

function problemsOfList({ kind, items, nullable }: Attribute, given: string | undefined): string[] {
  const problems: string[] = [];
  if (given && (items < 1 || items > MOST_ITEMS)) problems.push(`needs a length from 1 to ${MOST_ITEMS}`);
  if (nullable && kind.canBeNull === false) problems.push('is empty when it is left out, so it is never null');
  return problems;
}

function problemsOf(attribute: Attribute, fallback: string | undefined): string[] {
  const { name, kind, options, target, nullable, unique, min, max } = attribute;
  const problems: string[] = [];
  if (target && kind === KINDS.reference && !/._id$/.test(name)) {
    problems.push(`must end in _id, as it is the id of another resource`);
  }
  if (target && kind === KINDS.references && !/._ids$/.test(name)) {
    problems.push(`must end in _ids, as it has ids of another resource`);
  }
  if (options.some((one) => !OPTION.test(one))) problems.push('the names of an enum must be capital letters');
  if (new Set(options).size < options.length) problems.push('has a name twice');
  if (name === 'status' && (kind !== KINDS.enum || nullable)) problems.push('must be an enum that is never null');
  if (unique && !kind.canBeUnique) problems.push(CANNOT_BE_UNIQUE);
  if (unique && kind.isText && max > 0 && max < MIN_UNIQUE_LENGTH) {
    problems.push(`must have room for ${MIN_UNIQUE_LENGTH} characters to be unique`);
  }
  if (unique && max > MAX_UNIQUE_LENGTH && kind.isText)
    problems.push(`must have at most ${MAX_UNIQUE_LENGTH} characters to be unique`);
  if (unique && kind === KINDS.whole && max - min < MIN_UNIQUE_NUMBERS) {
    problems.push(`must have room for ${MIN_UNIQUE_NUMBERS} numbers to be unique`);
  }
  if (unique && (nullable || fallback !== undefined)) problems.push(NEITHER_NULL_NOR_DEFAULT);
  if (nullable && fallback !== undefined) problems.push('is null when it is left out, so it takes no default');
  else if (fallback !== undefined && !kind.read) problems.push('takes no default');
  else if (fallback !== undefined && kind.read!(fallback, attribute) === undefined) {
    problems.push(`the default ${JSON.stringify(fallback)} breaks its own rule`);
  }
  return problems;
}
