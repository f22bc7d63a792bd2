import { sentence } from '../names';
import { always, type Attribute, argumentOf, grouped, human, type Kind, never, optionally } from './kind';

/** The longest text of `varchar`. A longer one is `text`, as that of posts. */
const VARCHAR = 2000;
/** An entry of a B-tree index has at most a third of a page: 2,700 bytes, four for a code point. */
const SORTABLE_TEXT = 500;
const MAX_URL = 2048;

export const lengthOf = ({ min, max }: Attribute): string[] => [...(min > 0 ? [`min: ${min}`] : []), `max: ${max}`];

/** Within the bounds, and another one for each number. */
export function exampleText({ name, min, max }: Attribute, index: number): string {
  const text = `${sentence(human(name))} ${index}`;
  return (text.length <= max ? text : String(index)).padEnd(min, '.');
}

/** A text that the DTO takes as it is, and whose default TypeORM recognises in the database. */
export function readText(text: string, { min, max }: Attribute): string | undefined {
  const { length } = [...text];
  const isClean = text === text.trim() && !/\p{Cc}|\p{Cs}|['\\]|::/u.test(text);
  return length >= min && length <= max && isClean ? text.normalize('NFC') : undefined;
}

function checkOfText({ name, min, max }: Attribute): [string, string] | undefined {
  const length = `char_length(${name})`;
  if (max <= VARCHAR) return min > 0 ? ['length', `${length} >= ${min}`] : undefined;
  return ['length', min > 0 ? `${length} BETWEEN ${min} AND ${max}` : `${length} <= ${max}`];
}

const valuesOfText = ({ min, max, nullable }: Attribute, multiline: boolean) => {
  const options = [
    ...(min > 0 ? [`min: ${min}`] : []),
    `max: ${grouped(max)}`,
    ...(multiline ? ['multiline: true'] : []),
    ...(nullable ? ['nullable: true'] : []),
  ];
  return `text(${argumentOf(options)})`;
};

const anyText = {
  bounds: { least: 0, most: 50_000, min: 1 },
  isText: true,
  canBeNested: true,
  type: () => 'string',
  column: ({ max }: Attribute) =>
    max > VARCHAR
      ? { options: "type: 'text'", sql: 'text' }
      : { options: `type: 'varchar', length: ${max}`, sql: `varchar(${max})` },
  check: checkOfText,
  read: readText,
  example: exampleText,
} satisfies Partial<Kind>;

export const TEXTS: Record<string, Kind> = {
  text: {
    ...anyText,
    usage: 'text(120) or text(3..20), on one line',
    canBeUnique: true,
    canBeSorted: ({ max, nullable }) => max <= SORTABLE_TEXT && !nullable,
    decorator: (attribute) => ({ name: 'Text', options: lengthOf(attribute) }),
    describe: ({ name }) => `The ${human(name)}.`,
    values: (attribute) => valuesOfText(attribute, false),
  },
  lines: {
    ...anyText,
    usage: 'lines(2000), a text that may have several lines',
    canBeSorted: never,
    decorator: (attribute) => ({ name: 'Text', options: [...lengthOf(attribute), 'multiline: true'] }),
    describe: ({ name }) => `The ${human(name)}. It may have several lines.`,
    values: (attribute) => valuesOfText(attribute, true),
  },
  email: {
    usage: 'email',
    canBeUnique: true,
    canBeSorted: ({ nullable }) => !nullable,
    canBeNested: true,
    isText: true,
    type: () => 'string',
    decorator: () => ({ name: 'EmailAddress', options: [] }),
    column: () => ({ options: "type: 'varchar', length: 254", sql: 'varchar(254)' }),
    read: (text) => (/^[\w.+-]{1,64}@[\w-]{1,63}\.[\w.-]{2,63}$/.test(text) ? text : undefined),
    example: (_attribute, index) => `${['ada', 'grace', 'edsger', 'barbara'][index - 1] ?? `user${index}`}@example.com`,
    describe: ({ name }) => `The ${human(name)}: an e-mail address.`.replace('email: an e-mail', 'e-mail'),
    values: (attribute) => optionally(attribute, 'email'),
  },
  url: {
    usage: 'url, of http or https',
    canBeSorted: never,
    canBeNested: true,
    isText: true,
    type: () => 'string',
    decorator: () => ({ name: 'WebAddress', options: [] }),
    column: () => ({ options: `type: 'varchar', length: ${MAX_URL}`, sql: `varchar(${MAX_URL})` }),
    check: ({ name }) => ['form', `${name} ~ '^https?://'`],
    read: readUrl,
    example: (_attribute, index) => `https://example.com/${index}`,
    describe: ({ name }) => `The ${human(name)}: a URL.`.replace('The url: a URL', 'The URL'),
    values: ({ nullable }) => `webAddress(${nullable ? '{ nullable: true }' : ''})`,
  },
  uuid: {
    usage: 'uuid',
    canBeSorted: always,
    canBeFiltered: true,
    canBeNested: true,
    type: () => 'string',
    decorator: () => ({ name: 'Uuid', options: [] }),
    column: () => ({ options: "type: 'uuid'", sql: 'uuid' }),
    read: (text) => (/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/.test(text) ? text : undefined),
    example: (_attribute, index) => `3f0c6a2e-8f55-4b53-9a0e-0d1f6f5a7c${String(10 + index)}`,
    describe: ({ name }) => `The ${human(name)}: a UUID.`.replace('The uuid: a UUID', 'The UUID'),
    values: ({ nullable }) => `uuid(${nullable ? '{ nullable: true }' : ''})`,
  },
};

/** Written as the DTO keeps it. */
function readUrl(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url && /^https?:$/.test(url.protocol) && url.href === text && text.length <= MAX_URL ? text : undefined;
}
