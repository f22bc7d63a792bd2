import { Injectable, Param, type PipeTransform } from '@nestjs/common';
import { type ApiError, validationError } from '../errors/api-error';

/**
 * The name of the path parameter of resources that are found by a random key instead of an id, which could be guessed.
 */
export const KEY_PARAMETER = 'key';
export const EXAMPLE_KEY = '3f0c6a2e-8f55-4b53-9a0e-0d1f6f5a7c11';
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export const isKey = (text: string): boolean => UUID.test(text);

@Injectable()
export class KeyPipe implements PipeTransform<string, string> {
  transform(text: string): string {
    if (isKey(text)) return text.toLowerCase();
    throw notAKey(KEY_PARAMETER);
  }
}

/** 400 for a path parameter that can't be a key. */
export const notAKey = (field: string): ApiError =>
  validationError([{ field, rule: 'key', message: 'must be a UUID' }]);

/** The random key of a resource in the path. */
export const KeyParam = (): ParameterDecorator => Param(KEY_PARAMETER, KeyPipe);
