import type { Type } from '@nestjs/common';
import { type TransformOptions, TransformationType } from 'class-transformer';
import { defaultMetadataStorage } from 'class-transformer/cjs/storage';
import { getMetadataStorage } from 'class-validator';

/**
 * Marks rules and conditions whose outcome depends on nothing but the value, or its object, and changes nothing: it stands in
 * the context of their `ValidationOptions`.
 */
export const PURE = { context: Object.freeze({ pure: true }) };
/** The same, for `@Transform`. */
export const PURE_TRANSFORM: TransformOptions = {};

const TO_CLASS = TransformationType.PLAIN_TO_CLASS;

/** Whether all that decorators say of a class is pure: validating the same value twice then makes the same. */
export function isPure(type: Type<object>): boolean {
  const rules = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
  const names = new Set(rules.map(({ propertyName }) => propertyName));
  return (
    rules.length > 0 &&
    rules.every(({ context }) => context === PURE.context) &&
    defaultMetadataStorage.getStrategy(type) === 'none' &&
    defaultMetadataStorage.getExposedProperties(type, TO_CLASS).length === 0 &&
    defaultMetadataStorage.getExcludedProperties(type, TO_CLASS).length === 0 &&
    [...names].every((name) => hasPureTransforms(type, name))
  );
}

function hasPureTransforms(type: Type<object>, name: string): boolean {
  const transforms = defaultMetadataStorage.findTransformMetadatas(type, name, TO_CLASS);
  // It is undefined where there is none, whatever the declaration says.
  const converts = defaultMetadataStorage.findTypeMetadata(type, name) as object | undefined;
  return !converts && transforms.every(({ options }) => options === PURE_TRANSFORM);
}
