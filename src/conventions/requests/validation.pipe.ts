import { type ArgumentMetadata, Injectable, ValidationPipe as NestValidationPipe } from '@nestjs/common';
import type { ValidationError } from 'class-validator';
import { type FieldViolation, validationError } from '../errors/api-error';

const UNKNOWN = { rule: 'unknown', message: 'is not known here' };

/** The one validation of everything that comes in: body, query and path. */
@Injectable()
export class ValidationPipe extends NestValidationPipe {
  constructor() {
    super({
      transform: true,
      transformOptions: { exposeUnsetFields: false },
      whitelist: true,
      forbidNonWhitelisted: true,
      validationError: { target: false, value: false },
      exceptionFactory: (errors) => validationError(errors.flatMap((error) => violationsOf(error))),
    });
  }

  override async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    if (metadata.type === 'body' || metadata.type === 'query') {
      const names = uncheckedNames(value, (metadata.metatype?.prototype ?? Object.prototype) as object);
      if (names.length > 0) throw validationError(names.map((field) => ({ field, ...UNKNOWN })));
    }
    return super.transform(value, metadata) as Promise<unknown>;
  }

  /** Leaves a single parameter to its own pipe: Nest would make a number of it, and take 1e3 and 0x10 for one. */
  protected override transformPrimitive(value: unknown): unknown {
    return value;
  }
}

/**
 * Names that are properties of every object, or accessors of the class: Nest and the libraries behind it leave them out
 * or let them pass, without a word.
 */
function uncheckedNames(value: unknown, prototype: object, parent = ''): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, child]) => [
    ...(name in prototype || name === 'prototype' ? [parent + name] : []),
    ...uncheckedNames(child, Object.prototype, `${parent}${name}.`),
  ]);
}

function violationsOf({ property, constraints = {}, children = [] }: ValidationError, parent = ''): FieldViolation[] {
  const field = parent + property;
  const own = Object.entries(constraints)
    // A list of objects has a rule for its type already.
    .filter(([rule]) => rule !== 'nestedValidation')
    .map(([rule, message]) => (rule === 'whitelistValidation' ? { field, ...UNKNOWN } : { field, rule, message }));
  return [...own, ...children.flatMap((child) => violationsOf(child, `${field}.`))];
}
