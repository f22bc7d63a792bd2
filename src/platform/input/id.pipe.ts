import { Injectable, Param, type PipeTransform, type ArgumentMetadata } from '@nestjs/common';
import { MAX_ID } from '../rows/resource.entity';
import { type ApiError, validationError } from '../errors/api-error';

const DECIMAL = /^[1-9]\d{0,18}$/;
const MAX_INT64 = 2n ** 63n - 1n;

export const idMessage = `must be an integer from 1 to ${MAX_INT64}`;

/** A decimal integer in 1..2^63-1, and nothing that JavaScript would also take for a number; undefined otherwise. */
export function parseId(text: string): number | undefined {
  if (!DECIMAL.test(text) || BigInt(text) > MAX_INT64) return undefined;
  // Ids are given out up to MAX_ID only, so any above it stands for one that isn't there, and need not be exact.
  return Math.min(Number(text), MAX_ID + 1);
}

@Injectable()
export class IdPipe implements PipeTransform<string, number> {
  transform(text: string, { data }: ArgumentMetadata): number {
    const id = parseId(text);
    if (id === undefined) throw notAnId(data ?? 'id');
    return id;
  }
}

/** 400 for a path parameter that can't be an id. */
export function notAnId(field: string): ApiError {
  return validationError([{ field, rule: 'id', message: idMessage }]);
}

/** The id of a resource, from the path. */
export const IdParam = (name = 'id'): ParameterDecorator => Param(name, IdPipe);
