import { confirm, input, select } from '@inquirer/prompts';
import { attributeOf } from './attribute';
import { KINDS, NAMED } from './kinds';
import { planOf, Refusal, type Wish } from './plan';
import { singularOf } from './names';
import type { Existing } from './project';

/** The streams of the terminal. Default: those of the process */
export interface Terminal {
  input?: NodeJS.ReadableStream;
  output?: NodeJS.WritableStream;
}

/** What stands in the brackets of a kind, and what it usually is. */
const BOUNDS: Record<string, [question: string, usual: string]> = {
  text: ['How many characters at most, or from..to?', '120'],
  lines: ['How many characters at most, or from..to?', '2000'],
  decimal: ['How many digits, and how many of them decimals?', '12,2'],
  whole: ['From..to?', '0..2147483647'],
};
const LISTABLE = ['text', 'enum', 'reference', 'object'];

/** Asks for what a command lacks, one question after the other. A wrong answer is explained and asked for again. */
export async function ask(wish: Partial<Wish>, resources: Existing[], terminal: Terminal = {}): Promise<Wish> {
  const noun = wish.noun ?? (await askNoun(wish.singular, resources, terminal));
  const singular =
    wish.singular ?? (singularOf(noun) === undefined ? await askSingular(noun, resources, terminal) : undefined);
  const attributes = [...(wish.attributes ?? [])];
  for (let more = true; more;) {
    const attribute = await askAttribute(attributes, resources, terminal);
    if (attribute === undefined) more = false;
    else attributes.push(attribute);
  }
  const given = { ...wish, noun, singular, attributes };
  return { ...given, ...(await askAccess(given, resources, terminal)) };
}

/** The command that asks for the same, to repeat it or to write it down. */
export function commandOf(wish: Wish): string {
  const options = [
    ...(wish.singular ? ['--singular', wish.singular] : []),
    ...(wish.in ? ['--in', wish.in] : []),
    ...(wish.owner ? ['--owner'] : []),
    ...(wish.read ? ['--read', wish.read] : []),
    ...(wish.write ? ['--write', wish.write] : []),
    ...(wish.softDelete ? ['--soft-delete'] : []),
    ...(wish.search === false ? ['--no-search'] : []),
  ];
  const words = wish.attributes.map((text) => (/^[\w:]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`));
  return ['npm run resource -- add', wish.noun, ...words, ...options].join(' ');
}

function askNoun(singular: string | undefined, resources: Existing[], terminal: Terminal): Promise<string> {
  const message = 'What are they called? A plural, such as invoices or credit-notes';
  // If the plural is unusual, the next question asks for the singular.
  const validate = (noun: string) =>
    verdict(
      problemsOf({ noun, singular, attributes: ['name:text(9)'] }, resources).filter(
        (problem) => singular !== undefined || singularOf(noun) !== undefined || !problem.includes('--singular'),
      ),
    );
  return input({ message, validate }, terminal);
}

function askSingular(noun: string, resources: Existing[], terminal: Terminal): Promise<string> {
  const validate = (singular: string) =>
    verdict(problemsOf({ noun, singular, attributes: ['name:text(9)'] }, resources));
  return input({ message: `What is one of the ${noun} called?`, validate }, terminal);
}

/** One attribute as the command has it; undefined for no more. */
async function askAttribute(before: string[], resources: Existing[], terminal: Terminal): Promise<string | undefined> {
  const message =
    before.length === 0 ? 'The name of its first attribute?' : 'The name of the next one? Nothing if that was all';
  const validate = (text: string) =>
    text === '' ? before.length > 0 || 'It needs one' : verdict(attributeOf(`${text}:boolean`, resources).problems);
  const name = await input({ message, validate }, terminal);
  if (name === '') return undefined;
  const kind = await select({ message: `What is ${name}?`, choices: choices(), pageSize: 20 }, terminal);
  const type = await askType(kind, resources, terminal);
  const isList = LISTABLE.includes(kind) && (await confirm({ message: 'Is it a list?', default: false }, terminal));
  const text = `${name}:${type}${isList ? '[]' : ''}`;
  const whole = text + (isList || kind === 'json' ? '' : await askRule(text, resources, terminal));
  const { problems } = attributeOf(whole, resources);
  if (problems.length === 0) return whole;
  write(terminal, `${problems.join('\n')}\n`);
  return askAttribute(before, resources, terminal);
}

function choices(): { name: string; value: string }[] {
  const others = ['enum', 'reference', 'object'];
  return [...Object.keys(NAMED), ...others].map((value) => ({
    name: `${value.padEnd(10)} ${KINDS[value].usage}`,
    value,
  }));
}

async function askType(kind: string, resources: Existing[], terminal: Terminal): Promise<string> {
  if (kind === 'enum') return input({ message: 'Which names? Such as OPEN|PAID', validate: required }, terminal);
  if (kind === 'object') {
    const message = 'Which attributes? Such as street:text(80),floor:whole?';
    return `{${await input({ message, validate: required }, terminal)}}`;
  }
  if (kind === 'reference') {
    const nouns = resources.map(({ names }) => ({ value: names.noun }));
    return select({ message: 'Of which resource?', choices: nouns }, terminal);
  }
  if (!BOUNDS[kind]) return kind;
  const [message, usual] = BOUNDS[kind];
  const bounds = await input({ message, default: usual }, terminal);
  return `${kind}(${bounds})`;
}

/** `?`, `!unique` or a default. */
async function askRule(text: string, resources: Existing[], terminal: Terminal): Promise<string> {
  const { attribute } = attributeOf(text, resources);
  const rules = [
    { name: 'It is required', value: '' },
    { name: 'It may be null', value: '?' },
    ...(attribute?.kind.canBeUnique ? [{ name: 'It is required and unique', value: '!unique' }] : []),
    ...(attribute?.kind.read ? [{ name: 'It has a default', value: '=' }] : []),
  ];
  const rule = await select({ message: 'And a body that leaves it out?', choices: rules }, terminal);
  if (rule !== '=') return rule;
  const validate = (value: string) => verdict(attributeOf(`${text}=${value}`, resources).problems);
  return `=${await input({ message: 'Its default?', validate }, terminal)}`;
}

async function askAccess(wish: Wish, resources: Existing[], terminal: Terminal): Promise<Partial<Wish>> {
  const parents = resources.filter(({ getTakesCaller, readStatuses }) => getTakesCaller !== undefined && readStatuses);
  const nouns = parents.map(({ names }) => ({ name: `Below ${names.noun}`, value: names.noun }));
  const places = [{ name: 'On its own', value: '' }, ...nouns];
  const place = wish.in ?? (await select({ message: 'Where does its collection stand?', choices: places }, terminal));
  const message = 'Does each belong to a user, who sees and changes it beside administrators?';
  const owner = wish.owner ?? (await confirm({ message, default: false }, terminal));
  const access = owner ? {} : await askReaders({ ...wish, in: place || undefined }, resources, terminal);
  const kept = { message: 'Are deleted ones kept and hidden?', default: false };
  const softDelete = wish.softDelete ?? (await confirm(kept, terminal));
  return { in: place || undefined, owner, ...access, softDelete };
}

async function askReaders(wish: Wish, resources: Existing[], terminal: Terminal): Promise<Partial<Wish>> {
  const parent = resources.find(({ names }) => names.noun === wish.in);
  const all = [
    { name: 'Everybody', value: 'public' },
    { name: 'Users', value: 'user' },
    { name: 'Administrators', value: 'admin' },
  ];
  // Only what is wrong with the access: a command has the whole of it checked at the end.
  const before = problemsOf({ ...wish, read: undefined, write: 'admin' }, resources);
  const isPossible = (option: Partial<Wish>) =>
    problemsOf({ ...wish, write: 'admin', ...option }, resources).every((problem) => before.includes(problem));
  const readers = all.filter(({ value }) => isPossible({ read: value }) || parent === undefined);
  const read = wish.read ?? (await select({ message: 'Who reads them?', choices: readers }, terminal));
  const writers = all.filter(({ value }) => value !== 'public' && isPossible({ read, write: value }));
  return { read, write: wish.write ?? (await select({ message: 'Who writes them?', choices: writers }, terminal)) };
}

function problemsOf(wish: Wish, resources: Existing[]): string[] {
  try {
    planOf(wish, resources);
    return [];
  } catch (error) {
    if (error instanceof Refusal) return error.problems;
    throw error;
  }
}

const required = (text: string) => text !== '' || 'It needs one';
const verdict = (problems: string[]) => problems.length === 0 || problems.join('; ');
const write = ({ output = process.stdout }: Terminal, text: string) => void output.write(text);
