import {
  createParamDecorator,
  type ExecutionContext,
  Injectable,
  type PipeTransform,
  BadRequestException,
} from '@nestjs/common';
import { Expose, Transform, Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsDate,
  IsEmail,
  IsInt,
  IsNotEmpty,
  IsOptional,
  IsString,
  IsUUID,
  Length,
  Max,
  Min,
  MinLength,
  registerDecorator,
  ValidateNested,
} from 'class-validator';
import type { Request } from 'express';
import { Text, WholeParameter } from '../../../src/platform';

export enum Colour {
  RED = 'red',
  BLUE = 'blue',
}

export enum Level {
  LOW,
  HIGH,
}

export const UUID = '3f0c6a2e-8f55-4b53-9a0e-0d1f6f5a7c11';
/** How often the asynchronous rule was asked. */
export let asked = 0;
/** What the asynchronous rule takes, as rows of a table that change. */
export const taken = new Set<string>();

/** As class-validator's documentation writes one. */
function IsFree(): PropertyDecorator {
  return (target, propertyName) =>
    registerDecorator({
      name: 'isFree',
      target: target.constructor,
      propertyName: propertyName as string,
      async: true,
      validator: {
        validate: async (value: string) => {
          asked++;
          await Promise.resolve();
          return !taken.has(value);
        },
        defaultMessage: () => '$property is taken',
      },
    });
}

export class FindCatsQuery {
  @IsOptional()
  @IsArray()
  @IsString({ each: true })
  @Transform(({ value }: { value: string }) => value.split(','))
  tags?: string[];

  @IsOptional()
  @IsDate()
  @Type(() => Date)
  since?: Date;

  @IsOptional()
  @IsInt()
  @Min(1)
  @Type(() => Number)
  limit: number = 10;

  @IsOptional()
  @IsFree()
  name?: string;

  @IsDate()
  now = new Date();
}

/** Nothing but attributes of the service itself. */
export class PlainQuery {
  @Text({ max: 10, optional: true })
  text?: string;

  @WholeParameter({ min: 0, max: 9 })
  number?: number;
}

let made = 0;
export class CountedQuery extends PlainQuery {
  @Text({ max: 10, optional: true })
  label = `number ${++made}`;
}

export class FindOneParams {
  @IsUUID()
  id: string;

  @IsInt()
  @Type(() => Number)
  part: number;
}

export class StreetDto {
  @IsString()
  street: string;
}

export class CatDto {
  @IsString()
  @Length(3, 20)
  name: string;

  @IsBoolean()
  paid: boolean;

  @IsOptional()
  @IsEmail({}, { message: 'is no address of ours' })
  email?: string;

  @IsOptional()
  @ValidateNested()
  @Type(() => StreetDto)
  address?: StreetDto;

  @IsOptional()
  @ValidateNested({ each: true })
  @ArrayMaxSize(2)
  @Type(() => StreetDto)
  others?: StreetDto[];

  @IsOptional()
  @IsInt({ each: true })
  numbers?: number[];

  @IsOptional()
  @Expose({ name: 'nick_name' })
  @MinLength(2)
  nickName?: string;
}

export class GroupedDto {
  @IsNotEmpty({ groups: ['create'] })
  name?: string;

  @IsInt({ groups: ['create', 'update'] })
  age?: number;
}

export class Page {
  @IsInt()
  @Max(5)
  @Type(() => Number)
  page: number;
}

export const Wanted = createParamDecorator((_data: unknown, context: ExecutionContext) => {
  const { page, more } = context.switchToHttp().getRequest<Request>().query;
  return { page, ...(more !== undefined && { more }) };
});
export const Agent = createParamDecorator((name: string, context: ExecutionContext) =>
  context.switchToHttp().getRequest<Request>().get(name),
);

@Injectable()
export class EvenPipe implements PipeTransform<string, number> {
  transform(text: string): number {
    if (Number(text) % 2 !== 0) throw new BadRequestException('must be even');
    return Number(text);
  }
}
