import {
  ApiHideProperty,
  ApiProperty,
  ApiPropertyOptional,
  getSchemaPath,
  IntersectionType,
  OmitType,
  PartialType,
  PickType,
} from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { Allow, IsEmail, IsEnum, IsInt, IsOptional, IsString, Length, Matches, ValidateNested } from 'class-validator';
import { ListQueryOf, Money, OneOf, ResourceDto, Text } from '../../../src/platform';

export enum Kind {
  CAT = 'CAT',
  DOG = 'DOG',
}

export enum Grade {
  LOW = 1,
  HIGH = 2,
}

export class PetDto extends ResourceDto {
  @Text({ max: 20 })
  @ApiProperty({ description: 'What it is called.', example: 'Tom' })
  name: string;

  @OneOf(Kind, { nullable: true })
  @ApiProperty({ description: 'What it is.', example: 'CAT' })
  kind: Kind | null;

  @Money()
  @ApiProperty({ description: 'What it costs.', example: 5 })
  price: number;
}

export class NewPetDto extends PickType(PetDto, ['name', 'price']) {}
export class PatchPetDto extends PartialType(NewPetDto, { skipNullProperties: false }) {}
export class PetWithoutPriceDto extends OmitType(PetDto, ['price', 'kind']) {}

/** A DTO as a team writes it that knows Nest's documentation. */
export class OwnerDto {
  @IsString()
  @Length(1, 50)
  @ApiProperty({ example: 'Ada', minLength: 1, maxLength: 50 })
  name: string;

  @IsOptional()
  @IsEmail()
  @ApiPropertyOptional({ type: String, format: 'email', nullable: true, example: 'ada@example.com' })
  email?: string | null;

  @ApiHideProperty()
  @Allow()
  secret?: string;
}

export class AddressDto {
  @IsString()
  @ApiProperty({ example: 'Bern' })
  city: string;
}

export class OwnerWithAddressDto extends IntersectionType(OwnerDto, AddressDto) {}
export class PartOfOwnerDto extends PartialType(PickType(OwnerDto, ['name', 'email'] as const)) {}

export class CatDto {
  @ApiProperty({ enum: ['CAT'], example: 'CAT' })
  @IsEnum(['CAT'])
  type: 'CAT';

  @ApiProperty({ exclusiveMinimum: true, minimum: 0, example: 9 })
  @IsInt()
  lives: number;
}

export class DogDto {
  @ApiProperty({ enum: ['DOG'], example: 'DOG' })
  @IsEnum(['DOG'])
  type: 'DOG';
}

/** Another class than CatDto, whose short name this would be. */
export class Cat {
  @ApiProperty({ example: 'x' })
  whiskers: string;
}

export class HouseholdDto {
  @ApiProperty({ oneOf: [{ $ref: getSchemaPath(CatDto) }, { $ref: getSchemaPath(DogDto) }], nullable: true })
  @Allow()
  favourite: CatDto | DogDto | null;

  @ApiProperty({ type: () => AddressDto, nullable: true, description: 'Where it is.' })
  @IsOptional()
  @ValidateNested()
  @Type(() => AddressDto)
  address: AddressDto | null;

  @ApiProperty({ type: [AddressDto] })
  @ValidateNested({ each: true })
  @Type(() => AddressDto)
  others: AddressDto[];

  @ApiProperty({ type: 'object', additionalProperties: { type: 'string' }, example: { a: 'b' } })
  @Allow()
  labels: Record<string, string>;

  @ApiProperty({ type: [String], example: ['a'] })
  @IsString({ each: true })
  tags: string[];

  @ApiProperty({ enum: Kind, enumName: 'Kind' })
  @IsEnum(Kind)
  kind: Kind;

  @ApiProperty({ enum: Kind, enumName: 'Kind', nullable: true, description: 'What else it is.' })
  @IsOptional()
  @IsEnum(Kind)
  other_kind: Kind | null;

  @ApiProperty({ enum: Grade, enumName: 'Grade', isArray: true })
  @IsEnum(Grade, { each: true })
  grades: Grade[];

  @ApiProperty({ enum: Grade })
  @IsEnum(Grade)
  grade: Grade;
}

/** Contains its own kind. */
export class BranchDto extends ResourceDto {
  @ApiProperty({ type: () => [BranchDto] })
  branches: BranchDto[];
}

export class ListBranchesQuery extends ListQueryOf(BranchDto, { sortable: ['id'] }) {}
/** What a team's list leaves out or adds. */
export class FewPetsQuery extends OmitType(ListQueryOf(PetDto, { sortable: ['id', 'name'] }), ['search'] as const) {}

/** As the compiler's plugin leaves a class without decorators of its own. */
export class PluginDto {
  id: number;
  nickname?: string;

  static _OPENAPI_METADATA_FACTORY() {
    return { id: { required: true, type: () => Number }, nickname: { required: false, type: () => String } };
  }
}

export class PetParams {
  @IsEnum(Kind)
  @ApiProperty({ enum: Kind, description: 'The kind to look for.' })
  kind: Kind;

  @Matches(/^[a-z]{1,9}$/)
  @ApiProperty({ pattern: '^[a-z]{1,9}$', example: 'tom' })
  name: string;
}
