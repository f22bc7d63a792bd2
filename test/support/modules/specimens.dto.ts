import { PartialType } from '@nestjs/swagger';
import {
  BigInteger,
  DateOnly,
  Decimal,
  EmailAddress,
  Flag,
  Id,
  InputOf,
  JsonObject,
  ListOf,
  ListOfIds,
  ListOfTexts,
  ListQueryOf,
  Moment,
  Money,
  ObjectOf,
  OneOf,
  ResourceDto,
  resourceOf,
  SomeOf,
  Text,
  Uuid,
  WebAddress,
  Whole,
} from '../../../src/platform';
import { Specimen, SpecimenStatus, Use } from './specimens.entity';

export class DimensionsDto {
  @Decimal({ precision: 5, scale: 1, min: 0 })
  height: number;

  @Text({ max: 2, default: 'cm' })
  unit: string;
}

export class PartDto {
  @Text({ min: 1, max: 10 })
  name: string;

  @DateOnly({ nullable: true, default: null })
  lost_on: string | null;
}

/** An attribute of each kind. */
export class SpecimenDto extends ResourceDto {
  @Text({ min: 1, max: 40 })
  name: string;

  @Text({ max: 500, multiline: true, nullable: true })
  note: string | null;

  @EmailAddress({ nullable: true })
  contact: string | null;

  @WebAddress({ nullable: true })
  homepage: string | null;

  @Uuid({ nullable: true })
  serial: string | null;

  @Flag()
  fragile: boolean;

  @Whole({ min: -100, max: 100 })
  level: number;

  @BigInteger()
  population: number;

  @Decimal({ precision: 9, scale: 3, nullable: true })
  weight: number | null;

  @Money()
  price: number;

  @DateOnly({ nullable: true })
  found_on: string | null;

  @Moment({ nullable: true })
  seen_at: Date | null;

  @OneOf(SpecimenStatus)
  status: SpecimenStatus;

  @SomeOf(Use, { min: 0 })
  uses: Use[];

  @ListOfTexts({ max: 5, each: { min: 1, max: 20 }, unique: true })
  labels: string[];

  @JsonObject({ maxBytes: 200, maxDepth: 3 })
  extra: object;

  @ObjectOf(() => DimensionsDto, { nullable: true })
  dimensions: DimensionsDto | null;

  @ListOf(() => PartDto, { min: 0, max: 3 })
  parts: PartDto[];

  @ListOfIds({ max: 4 })
  helper_ids: number[];

  @Id({ nullable: true })
  finder_id: number | null;
}

const nothing = { note: null, contact: null, homepage: null, serial: null, weight: null, found_on: null };

export class CreateSpecimenDto extends InputOf(SpecimenDto, {
  required: ['name', 'price'],
  defaults: {
    ...nothing,
    ...{ seen_at: null, dimensions: null, finder_id: null },
    ...{ fragile: false, level: 0, population: 0, status: SpecimenStatus.DRY },
    ...{ uses: [], labels: [], helper_ids: [], extra: {}, parts: [] },
  },
}) {}

export class PatchSpecimenDto extends PartialType(CreateSpecimenDto, { skipNullProperties: false }) {}

export class ListSpecimensQuery extends ListQueryOf(SpecimenDto, {
  sortable: Specimen,
  statuses: SpecimenStatus,
  filterable: [
    ...['finder_id', 'status', 'fragile', 'serial', 'level', 'population', 'weight', 'price', 'found_on', 'seen_at'],
    ...['contact', 'created_at'],
  ],
}) {}

export const toSpecimenDto = (specimen: Specimen): SpecimenDto =>
  resourceOf(specimen, {
    name: specimen.name,
    note: specimen.note,
    contact: specimen.contact,
    homepage: specimen.homepage,
    serial: specimen.serial,
    fragile: specimen.fragile,
    level: specimen.level,
    population: specimen.population,
    weight: specimen.weight,
    price: specimen.price,
    found_on: specimen.found_on,
    seen_at: specimen.seen_at,
    status: specimen.status,
    uses: specimen.uses,
    labels: specimen.labels,
    extra: specimen.extra,
    dimensions: specimen.dimensions as DimensionsDto | null,
    parts: specimen.parts as PartDto[],
    helper_ids: specimen.helper_ids,
    finder_id: specimen.finder_id,
  });
