import { Injectable, Param, type PipeTransform, type ArgumentMetadata } from '@nestjs/common';
import { MAX_INT64, parseId } from '../rows/parse-id';
import { type ApiError, validationError } from '../errors/api-error';

export const idMessage = `must be an integer from 1 to ${MAX_INT64}`;

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

/** The id of a resource in the path. */
export const IdParam = (name = 'id'): ParameterDecorator => Param(name, IdPipe);
