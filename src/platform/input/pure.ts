import type { Type } from '@nestjs/common';
import { type TransformOptions, TransformationType } from 'class-transformer';
import { defaultMetadataStorage } from 'class-transformer/cjs/storage';
import { getMetadataStorage } from 'class-validator';
import { Presence } from './presence';

/**
 * Marks rules and conditions that depend on the value or its object alone and have no side effects. The mark is in the
 * context of their `ValidationOptions`.
 */
export const PURE = { context: Object.freeze({ pure: true }) };
/** Marks a `@Transform` in the same way. */
export const PURE_TRANSFORM: TransformOptions = {};

const TO_CLASS = TransformationType.PLAIN_TO_CLASS;

/** True if all rules and transformations of a class are pure: validating an equal value again gives an equal result. */
export function isPure(type: Type<object>): boolean {
  const rules = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
  const names = new Set(rules.map(({ propertyName }) => propertyName));
  return (
    rules.length > 0 &&
    rules.every(({ context }) => context === PURE.context || (context instanceof Presence && context.pure)) &&
    defaultMetadataStorage.getStrategy(type) === 'none' &&
    defaultMetadataStorage.getExposedProperties(type, TO_CLASS).length === 0 &&
    defaultMetadataStorage.getExcludedProperties(type, TO_CLASS).length === 0 &&
    [...names].every((name) => hasPureTransforms(type, name))
  );
}

function hasPureTransforms(type: Type<object>, name: string): boolean {
  const transforms = defaultMetadataStorage.findTransformMetadatas(type, name, TO_CLASS);
  // Undefined if there is none, although the type doesn't say so.
  const converts = defaultMetadataStorage.findTypeMetadata(type, name) as object | undefined;
  return !converts && transforms.every(({ options }) => options === PURE_TRANSFORM);
}
