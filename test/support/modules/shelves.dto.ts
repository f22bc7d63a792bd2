import { OmitType, PartialType } from '@nestjs/swagger';
import {
  BigInteger,
  DateOnly,
  Decimal,
  EmailAddress,
  Id,
  InputOf,
  ListOfIds,
  ListQueryOf,
  Moment,
  Money,
  ObjectOf,
  OneOf,
  ResourceDto,
  resourceOf,
  Text,
  Uuid,
  WebAddress,
  Whole,
} from '../../../src/platform';
import { Room, Shelf, Slot } from './shelves.entity';

const SLUG = { max: 40, pattern: /[a-z0-9]+(?:-[a-z0-9]+)*/ };

export class SizeDto {
  @Whole({ min: 0, max: 1_000 })
  width: number;

  @Whole({ min: 0, max: 1_000 })
  height: number;
}

export class ShelfDto extends ResourceDto {
  @Text({ min: 1, max: 40 })
  name: string;

  @Text(SLUG)
  slug: string;

  @Uuid({ nullable: true })
  serial: string | null;

  @Text({ max: 40, nullable: true })
  tag: string | null;

  @EmailAddress({ nullable: true })
  keeper: string | null;

  @WebAddress({ nullable: true })
  page: string | null;

  @Whole({ min: 0, max: 2 ** 31 - 1, nullable: true })
  number: number | null;

  @BigInteger({ nullable: true })
  stamp: number | null;

  @Decimal({ precision: 9, scale: 3, nullable: true })
  weight: number | null;

  @Money({ nullable: true })
  price: number | null;

  @DateOnly({ nullable: true })
  bought_on: string | null;

  @Moment({ nullable: true })
  seen_at: Date | null;

  @OneOf(Room)
  room: Room;

  @ObjectOf(() => SizeDto)
  size: SizeDto;

  @ListOfIds({ max: 5 })
  product_ids: number[];
}

export class CreateShelfDto extends InputOf(ShelfDto, {
  required: ['name', 'slug', 'size'],
  defaults: {
    ...{ serial: null, tag: null, keeper: null, page: null, number: null, stamp: null, weight: null, price: null },
    ...{ bought_on: null, seen_at: null, room: Room.CELLAR, product_ids: [] },
  },
}) {}
export class PatchShelfDto extends PartialType(CreateShelfDto, { skipNullProperties: false }) {}
export class ListShelvesQuery extends OmitType(ListQueryOf(ShelfDto, { sortable: Shelf }), ['search']) {}

/** The parameters of a path with a slug. */
export class ShelfName {
  @Text(SLUG)
  slug: string;
}

export class SlotDto extends ResourceDto {
  @Id()
  shelf_id: number;

  @Text({ min: 1, max: 20 })
  label: string;
}

export class CreateSlotDto extends InputOf(SlotDto, { required: ['label'], defaults: {} }) {}
export class PatchSlotDto extends PartialType(CreateSlotDto, { skipNullProperties: false }) {}
export class ListSlotsQuery extends OmitType(ListQueryOf(SlotDto, { sortable: Slot }), ['search']) {}

export const toShelfDto = (shelf: Shelf): ShelfDto =>
  resourceOf(shelf, {
    name: shelf.name,
    slug: shelf.slug,
    serial: shelf.serial,
    tag: shelf.tag,
    keeper: shelf.keeper,
    page: shelf.page,
    number: shelf.number,
    stamp: shelf.stamp,
    weight: shelf.weight,
    price: shelf.price,
    bought_on: shelf.bought_on,
    seen_at: shelf.seen_at,
    room: shelf.room,
    size: { width: shelf.width, height: shelf.height },
    product_ids: (shelf.products ?? []).map(({ product_id }) => product_id),
  });

export const toSlotDto = (slot: Slot): SlotDto => resourceOf(slot, { shelf_id: slot.shelf_id, label: slot.label });
