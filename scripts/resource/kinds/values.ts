import { pascal } from '../names';
import { always, human, type Kind, optionally, quotedNames } from './kind';

const isDay = (text: string) => {
  const moment = new Date(`${text}T00:00:00Z`);
  return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(moment.getTime()) && moment.toISOString().startsWith(text);
};

export const VALUES: Record<string, Kind> = {
  boolean: {
    usage: 'boolean',
    canBeSorted: always,
    canBeFiltered: true,
    canBeNested: true,
    type: () => 'boolean',
    decorator: () => ({ name: 'Flag', options: [] }),
    column: () => ({ options: "type: 'boolean'", sql: 'boolean' }),
    read: (text) => (/^(?:true|false)$/.test(text) ? text === 'true' : undefined),
    example: (_attribute, index) => index % 2 === 1,
    describe: ({ name }) => `Whether it is ${human(name).replace(/^(?:is|has) /, '')}.`,
    values: (attribute) => optionally(attribute, 'flag'),
  },
  date: {
    usage: 'date, a day without a time zone',
    canBeSorted: always,
    canBeFiltered: true,
    canBeNested: true,
    type: () => 'string',
    decorator: () => ({ name: 'DateOnly', options: [] }),
    column: () => ({ options: "type: 'date'", sql: 'date' }),
    check: ({ name }) => ['range', `${name} BETWEEN '0001-01-01' AND '9999-12-31'`],
    read: (text) => (isDay(text) && text >= '0001' ? text : undefined),
    example: (_attribute, index) => `2026-01-${String(30 + (index % 2)).padStart(2, '0')}`,
    describe: ({ name }) => `The day: ${human(name)}.`,
    values: ({ nullable }) => `day(${nullable ? '{ nullable: true }' : ''})`,
  },
  moment: {
    usage: 'moment, a date and time',
    canBeSorted: always,
    canBeFiltered: true,
    type: () => 'Date',
    decorator: () => ({ name: 'Moment', options: [] }),
    column: () => ({ options: "type: 'timestamptz', precision: 3", sql: 'timestamptz(3)' }),
    example: (_attribute, index) => `2026-01-${String(30 + (index % 2)).padStart(2, '0')}T12:00:00.000Z`,
    describe: ({ name }) => `The moment: ${human(name)}.`,
    values: ({ nullable }) => `moment(${nullable ? '{ nullable: true }' : ''})`,
  },
  enum: {
    usage: 'OPEN|PAID, one of these names',
    canBeNested: true,
    canBeSorted: always,
    canBeFiltered: true,
    type: ({ name }, entity) => `${entity}${pascal(name)}`,
    decorator: ({ name }, entity) => ({ name: 'OneOf', first: `${entity}${pascal(name)}`, options: [] }),
    column: () => ({ options: "type: 'text'", sql: 'text' }),
    check: ({ name, options }) => ['known', `${name} IN (${quotedNames(options)})`],
    read: (text, { options }) => (options.includes(text) ? text : undefined),
    example: ({ options }, index) => options[(index - 1) % options.length],
    describe: ({ name }) => `The ${human(name)}.`,
    values: (attribute) => optionally(attribute, `oneOf(${quotedNames(attribute.options)})`),
  },
  reference: {
    usage: 'users, the noun of another resource, for an attribute that ends in _id',
    canBeSorted: always,
    canBeFiltered: true,
    type: () => 'number',
    decorator: () => ({ name: 'Id', options: [] }),
    column: () => ({ options: "type: 'bigint'", sql: 'bigint' }),
    example: () => 1,
    describe: ({ name }) => `The id of the ${human(name)}.`,
    values: () => '',
  },
};
