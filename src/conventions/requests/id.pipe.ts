import { Injectable, Param, type PipeTransform, type ArgumentMetadata } from '@nestjs/common';
import { MAX_ID } from '../../database/resource.entity';
import { validationError } from '../errors/api-error';

const DECIMAL = /^[1-9]\d{0,18}$/;
const MAX_INT64 = 2n ** 63n - 1n;

/** A decimal integer in 1..2^63-1, and nothing that JavaScript would also take for a number. */
@Injectable()
export class IdPipe implements PipeTransform<string, number> {
  transform(text: string, { data }: ArgumentMetadata): number {
    if (!DECIMAL.test(text) || BigInt(text) > MAX_INT64) {
      const message = `must be an integer from 1 to ${MAX_INT64}`;
      throw validationError([{ field: data ?? 'id', rule: 'id', message }]);
    }
    // Ids are given out up to MAX_ID only, so any above it stands for one that isn't there, and need not be exact.
    return Math.min(Number(text), MAX_ID + 1);
  }
}

/** The id of a resource, from the path. */
export const IdParam = (name = 'id'): ParameterDecorator => Param(name, IdPipe);
