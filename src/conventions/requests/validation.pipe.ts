import { Injectable, ValidationPipe as NestValidationPipe } from '@nestjs/common';
import type { ValidationError } from 'class-validator';
import { type FieldViolation, validationError } from '../errors/api-error';

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
}

function violationsOf({ property, constraints = {}, children = [] }: ValidationError, parent = ''): FieldViolation[] {
  const field = parent + property;
  const own = Object.entries(constraints)
    // A list of objects has a rule for its type already.
    .filter(([rule]) => rule !== 'nestedValidation')
    .map(([rule, message]) =>
      rule === 'whitelistValidation'
        ? { field, rule: 'unknown', message: 'is not known here' }
        : { field, rule, message },
    );
  return [...own, ...children.flatMap((child) => violationsOf(child, `${field}.`))];
}
