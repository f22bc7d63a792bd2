import type { Fixtures } from '../fixtures';
import { CreateSpecimenDto } from '../modules/specimens.dto';
import { Specimen } from '../modules/specimens.entity';
import { on, plain } from '../prepared-request';
import { common, each, type Resource } from '../resource';
import { json, nested, references, someOf, texts } from '../structured-values';
import { bigInteger, decimal, email, flag, money, oneOf, optionally, reference, text, whole } from '../values';
import { day, moment, uuid, webAddress } from '../written-values';

const aSpecimen = () => ({ name: 'A specimen', price: 1 });
const specimen = (own: Fixtures) => own.insert('specimens', aSpecimen());

const attributes = {
  name: text({ min: 1, max: 40 }),
  note: text({ max: 500, multiline: true, nullable: true }),
  contact: optionally(email),
  homepage: webAddress({ nullable: true }),
  serial: uuid({ nullable: true }),
  fragile: flag,
  level: whole({ min: -100, max: 100 }),
  population: bigInteger,
  weight: optionally(decimal({ least: '-999999.999', greatest: '999999.999', decimals: 3 })),
  price: money,
  found_on: day({ nullable: true }),
  seen_at: moment({ nullable: true }),
  status: oneOf('DRY', 'WET'),
  uses: someOf(['SHOW', 'STUDY', 'LOAN'], { min: 0 }),
  labels: texts({ max: 5, each: { min: 1, max: 20 } }),
  extra: json({ bytes: 200, depth: 3 }),
  dimensions: nested({
    taken: [
      [{ height: 0 }, { height: 0, unit: 'cm' }],
      [
        { height: 9999.9, unit: ' m ' },
        { height: 9999.9, unit: 'm' },
      ],
    ],
    refused: [
      [{}, 'required', 'height'],
      [{ height: 1.25 }, 'decimals', 'height'],
      [{ height: -0.1 }, 'range', 'height'],
      [{ height: 1, unit: 'km²' }, 'length', 'unit'],
      [{ height: 1, colour: 'red' }, 'unknown', 'colour'],
    ],
    nullable: true,
  }),
  parts: nested({
    taken: [
      [[], []],
      [[{ name: ' leg ' }], [{ name: 'leg', lost_on: null }]],
      [
        [{ name: 'a', lost_on: '2026-03-29' }, { name: 'b' }, { name: 'c' }],
        [
          { name: 'a', lost_on: '2026-03-29' },
          { name: 'b', lost_on: null },
          { name: 'c', lost_on: null },
        ],
      ],
    ],
    refused: [
      [Array(4).fill({ name: 'a' }), 'length'],
      [[{ name: 'a' }, {}], 'required', '1.name'],
      [[{ name: 'a', lost_on: '2026-02-30' }], 'date', '0.lost_on'],
      [[{ name: 'a', id: 1 }], 'unknown', '0.id'],
    ],
    list: true,
  }),
  helper_ids: references(async (own) => ({ id: (await own.api.user()).id }), 4),
  finder_id: optionally(reference(async (own) => ({ id: (await own.api.user()).id }))),
};

/** A resource with an attribute of each kind. It is in the module of the same name, and in no document. */
export const specimens: Resource = {
  noun: 'specimens',
  requests: {
    'GET /api/v1/specimens': plain,
    'GET /api/v1/specimens/:id': on(specimen),
    'POST /api/v1/specimens': () => ({ body: aSpecimen() }),
    'PUT /api/v1/specimens/:id': on(specimen, aSpecimen()),
    'PATCH /api/v1/specimens/:id': on(specimen, { level: 1 }),
    'DELETE /api/v1/specimens/:id': on(specimen),
  },
  writable: {
    input: CreateSpecimenDto,
    attributes,
    required: ['name', 'price'],
    replaceable: true,
    least: aSpecimen,
  },
  collections: [
    {
      name: '/specimens',
      table: 'specimens',
      attributes: [...common, ...Object.keys(attributes)],
      sortable: Specimen,
      statuses: ['DRY', 'WET'],
      textsOf: ({ name, note }) => [name, note],
      async fill(own, others, lines) {
        await each(lines, ({ text, index, even, dates }) => {
          const numbers = { level: (index % 3) - 1, population: -index, weight: even ? null : index / 8 };
          const finder_id = even ? own.owner.id : index === 1 ? null : others.owner.id;
          const moments = { found_on: even ? null : `2026-03-0${1 + index}`, seen_at: even ? null : dates.created_at };
          const names = { name: text, note: even ? null : 'Wood', status: even ? 'DRY' : 'WET', fragile: even };
          const price = 9.95 * (index % 3);
          return own.insert('specimens', { ...names, ...numbers, ...moments, finder_id, price, ...dates });
        });
      },
    },
  ],
};
