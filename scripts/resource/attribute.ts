import { type Attribute, type Kind, KINDS } from './kinds';
import type { Existing } from './project';
import { reservedAttribute } from './reserved';

/** `name:kind(bounds)`, then `?` for null, `!unique`, and `=default`. */
const FORM = /^([^:]*):([A-Za-z0-9_|-]*)(?:\((\d+)?(?:\.\.(\d+))?\))?(\?)?(!unique)?(?:=(.*))?$/s;
const NAME = /^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/;
const OPTION = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*$/;
const MAX_NAME = 40;
/** The tests of all attributes make about a thousand different values. */
const MIN_UNIQUE_LENGTH = 4;

interface Part {
  attribute?: Attribute;
  problems: string[];
}

/** The attribute that a text of the command stands for, or all that is wrong with it. */
export function attributeOf(text: string, resources: Existing[]): Part {
  const match = FORM.exec(text);
  if (!match)
    return { problems: [`${text}: must have the form name:kind, such as name:text(120) or note:lines(1000)?`] };
  const [, name, kindName, first, last, nullable, unique, fallback] = match;
  const problems = problemsOfName(name);
  const options = kindName.includes('|') ? kindName.split('|') : [];
  const target = resources.find(({ names }) => names.noun === kindName);
  const kind = kindOf(kindName, target !== undefined);
  if (!kind) return { problems: [...problems, `${name}: ${unknownKind(kindName)}`] };

  const bounds = boundsOf(kind, first, last, text.includes('..'));
  const attribute: Attribute = {
    ...{ name, kind, options, target: target?.names.noun },
    ...{ min: bounds.min, max: bounds.max, nullable: nullable !== undefined, unique: unique !== undefined },
  };
  // Null is allowed, so the shortest text needs no bound of its own.
  if (attribute.nullable && kind.isText && first !== undefined && last === undefined) attribute.min = 0;
  problems.push(...bounds.problems.map((problem) => `${name}: ${problem}`));
  problems.push(...problemsOf(attribute, fallback).map((problem) => `${name}: ${problem}`));
  if (attribute.nullable) attribute.fallback = null;
  else if (fallback !== undefined) attribute.fallback = kind.read(fallback, attribute);
  return { attribute, problems };
}

function problemsOfName(name: string): string[] {
  if (!NAME.test(name) || name.length > MAX_NAME) {
    return [`${name || '(no name)'}: must be small letters and digits, with underscores between words`];
  }
  const reserved = reservedAttribute(name);
  return reserved ? [`${name}: ${reserved}`] : [];
}

function kindOf(name: string, isResource: boolean): Kind | undefined {
  if (name.includes('|')) return KINDS.enum;
  if (isResource) return KINDS.reference;
  return ['enum', 'reference'].includes(name) ? undefined : Object.entries(KINDS).find(([key]) => key === name)?.[1];
}

function unknownKind(name: string): string {
  const known = Object.values(KINDS).map(({ usage }) => `  ${usage}`);
  return `${name || '(no kind)'} is neither a kind nor a resource. These are the kinds:\n${known.join('\n')}`;
}

function boundsOf({ bounds, usage }: Kind, first: string | undefined, last: string | undefined, isRange: boolean) {
  const given = first !== undefined || last !== undefined;
  if (!bounds) return { min: 0, max: 0, problems: given ? [`takes no bounds; write ${usage}`] : [] };
  const [least, most] = isRange ? [first, last] : [undefined, first];
  const [min, max] = [Number(least ?? bounds.min), Number(most ?? bounds.max)];
  const problems: string[] = [];
  if (Number.isNaN(max)) problems.push(`needs a greatest length; write ${usage}`);
  else if (min < bounds.least || max > bounds.most || max < Math.max(min, 1)) {
    problems.push(`needs bounds from ${bounds.least} to ${bounds.most}, the smaller one first`);
  }
  return { min, max, problems };
}

function problemsOf(attribute: Attribute, fallback: string | undefined): string[] {
  const { name, kind, options, target, nullable, unique, max } = attribute;
  const problems: string[] = [];
  if (target && !/._id$/.test(name)) problems.push(`must end in _id, as it is the id of another resource`);
  if (options.some((one) => !OPTION.test(one))) problems.push('the names of an enum must be capital letters');
  if (new Set(options).size < options.length) problems.push('has a name twice');
  if (name === 'status' && (options.length === 0 || nullable)) problems.push('must be an enum that is never null');
  if (unique && !kind.canBeUnique) problems.push(`can't be unique: only text, email and whole can`);
  if (unique && kind.isText && max > 0 && max < MIN_UNIQUE_LENGTH) {
    problems.push(`must have room for ${MIN_UNIQUE_LENGTH} characters to be unique`);
  }
  if (unique && (nullable || fallback !== undefined)) problems.push('must be required to be unique');
  if (nullable && fallback !== undefined) problems.push('is null when it is left out, so it takes no default');
  else if (fallback !== undefined && kind.read(fallback, attribute) === undefined) {
    problems.push(`the default ${JSON.stringify(fallback)} breaks its own rule`);
  }
  return problems;
}
