import { randomUUID } from 'node:crypto';
import type { Fixtures, Row } from '../fixtures';
import { CreateShelfDto, CreateSlotDto } from '../modules/shelves.dto';
import { Shelf, Slot } from '../modules/shelves.entity';
import { on, plain, type Prepare } from '../prepared-request';
import { common, each, type Resource } from '../resource';
import { nested, references } from '../structured-values';
import { bigInteger, decimal, email, form, money, oneOf, optionally, text, whole } from '../values';
import { day, moment, uuid, webAddress } from '../written-values';

let made = 0;
const aShelf = () => ({ name: 'A shelf', slug: `shelf-${++made}`, size: { width: 1, height: 2 } });
const shelf = (own: Fixtures, columns: object = {}) =>
  own.insert('furniture', { name: 'A shelf', slug: `shelf-${++made}`, serial: randomUUID(), ...columns });
const slot = async (own: Fixtures, columns: object = {}, above?: Row) =>
  own.insert('slots', { label: 'A slot', shelf_id: (above ?? (await shelf(own))).id, ...columns });
/** A request whose path names a column of a new shelf. */
const by =
  (column: string): Prepare =>
  async (own) => ({ ids: [String((await shelf(own))[column])] });
const onSlot =
  (body?: object): Prepare =>
  async (own) => {
    const { id, shelf_id } = await slot(own);
    return { ids: [shelf_id as number, id], body };
  };

const attributes = {
  name: text({ min: 1, max: 40 }),
  slug: form({ taken: ['a', 'a-b-2', 'x'.repeat(40)], refused: ['a_b', '-a', 'a-', 'A', 'a b'] }),
  serial: uuid({ nullable: true }),
  tag: text({ max: 40, nullable: true }),
  keeper: optionally(email),
  page: webAddress({ nullable: true }),
  number: optionally(whole({ min: 0, max: 2 ** 31 - 1 })),
  stamp: optionally(bigInteger),
  weight: optionally(decimal({ least: '-999999.999', greatest: '999999.999', decimals: 3 })),
  price: optionally(money),
  bought_on: day({ nullable: true }),
  seen_at: moment({ nullable: true }),
  room: oneOf('CELLAR', 'ATTIC'),
  size: nested({
    taken: [
      { width: 0, height: 1 },
      { width: 1_000, height: 1_000 },
    ].map((size) => [size, size]),
    refused: [
      [{ width: 1 }, 'required', 'height'],
      [{ width: 1_001, height: 1 }, 'range', 'width'],
      [{ width: 1, height: 1, depth: 1 }, 'unknown', 'depth'],
    ],
  }),
  product_ids: references((own) => own.product(), 5),
};

/** Resources of other shapes than the service's. They are in the module of the same name, and in no document. */
export const shelves: Resource = {
  noun: 'shelves',
  requests: {
    'GET /api/v1/shelves': plain,
    'GET /api/v1/shelves/serials/:serial': by('serial'),
    'GET /api/v1/shelves/names/:slug': by('slug'),
    'GET /api/v1/shelves/rooms/:room': by('room'),
    'GET /api/v1/shelves/:id': on(shelf),
    'POST /api/v1/shelves': () => ({ body: aShelf() }),
    'PUT /api/v1/shelves/:id': async (own) => ({ ids: [(await shelf(own)).id], body: aShelf() }),
    'PATCH /api/v1/shelves/:id': on(shelf, { room: 'ATTIC' }),
    'DELETE /api/v1/shelves/:id': on(shelf),
  },
  writable: {
    ...{ input: CreateShelfDto, attributes, least: aShelf },
    required: ['name', 'slug', 'size'],
    replaceable: true,
  },
  collections: [
    {
      name: '/shelves',
      attributes: [...common, ...Object.keys(attributes)],
      sortable: Shelf,
      statuses: [],
      fill: (own, _others, lines) =>
        each(lines, ({ index, dates }) => shelf(own, { name: `Shelf ${index % 3}`, ...dates })),
    },
  ],
};

/** A child that has nested routes only. */
export const slots: Resource = {
  noun: 'slots',
  requests: {
    'GET /api/v1/shelves/:id/slots': on(shelf),
    'GET /api/v1/shelves/:id/slots/:slotId': onSlot(),
    'POST /api/v1/shelves/:id/slots': on(shelf, { label: 'A slot' }),
    'PATCH /api/v1/shelves/:id/slots/:slotId': onSlot({ label: 'Another' }),
    'DELETE /api/v1/shelves/:id/slots/:slotId': onSlot(),
  },
  writable: {
    input: CreateSlotDto,
    attributes: { label: text({ min: 1, max: 20 }) },
    required: ['label'],
    replaceable: false,
    least: () => ({ label: 'A slot' }),
  },
  collections: [
    {
      name: '/shelves/{id}/slots',
      attributes: [...common, 'shelf_id', 'label'],
      sortable: Slot,
      statuses: [],
      async fill(own, _others, lines) {
        const [here, elsewhere] = [await shelf(own), await shelf(own)];
        await each(lines, async ({ index, dates }) => {
          await slot(own, { label: `Slot ${index % 3}`, ...dates }, here);
          await slot(own, dates, elsewhere);
        });
        return { path: `/shelves/${here.id}/slots`, where: `shelf_id = ${here.id}` };
      },
    },
  ],
};
