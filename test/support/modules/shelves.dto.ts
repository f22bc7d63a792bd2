import { OmitType, PartialType } from '@nestjs/swagger';
import {
  Id,
  InputOf,
  ListOfIds,
  ListQueryOf,
  ObjectOf,
  OneOf,
  ResourceDto,
  resourceOf,
  Text,
  Uuid,
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

  @OneOf(Room)
  room: Room;

  @ObjectOf(() => SizeDto)
  size: SizeDto;

  @ListOfIds({ max: 5 })
  product_ids: number[];
}

export class CreateShelfDto extends InputOf(ShelfDto, {
  required: ['name', 'slug', 'size'],
  defaults: { serial: null, room: Room.CELLAR, product_ids: [] },
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
    room: shelf.room,
    size: { width: shelf.width, height: shelf.height },
    product_ids: (shelf.products ?? []).map(({ product_id }) => product_id),
  });

export const toSlotDto = (slot: Slot): SlotDto => resourceOf(slot, { shelf_id: slot.shelf_id, label: slot.label });
