import type { Type } from '@nestjs/common';
import { ApiProperty, IntersectionType, PickType } from '@nestjs/swagger';
import { ValidateIf } from 'class-validator';
import { Presence } from './presence';

interface InputOptions<T, Required extends keyof T, Optional extends keyof T> {
  /** Attributes without which there is no input. */
  required: readonly Required[];
  /** Attributes that may be left out, each with what it takes then. */
  defaults: Pick<T, Optional>;
}

/**
 * The body of a POST or PUT, as a class to extend: attributes of the resource's own DTO with the rules and comments that they
 * have there. A handler gets all of them; of `PartialType()`, for a PATCH, only those that were sent.
 */
export function InputOf<T extends object, Required extends keyof T & string, Optional extends keyof T & string>(
  dto: Type<T>,
  { required, defaults }: InputOptions<T, Required, Optional>,
): Type<Pick<T, Required | Optional>> {
  const optional = Object.keys(defaults) as Optional[];
  const Input = IntersectionType(PickType(dto, required), PickType(dto, optional));
  for (const name of optional) takes(defaults[name])(Input.prototype as object, name);
  return Input as unknown as Type<Pick<T, Required | Optional>>;
}

/** Beside what the attribute says itself: that it may be null, for example. */
function takes(fallback: unknown): PropertyDecorator {
  return (prototype, name) => {
    // That null is what an attribute takes goes without saying.
    ApiProperty({ required: false, ...(fallback !== null && { default: fallback }) })(prototype, name);
    ValidateIf((_dto, value) => value !== undefined, { context: new Presence(true, fallback) })(prototype, name);
  };
}
