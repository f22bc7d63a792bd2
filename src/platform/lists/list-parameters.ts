import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { pureAttribute } from '../input/attribute';
import { OneOf } from '../input/attributes';

/** One attribute: whoever knows of `sort=a,-b` elsewhere is told how it is here. */
export function SortKey(sortable: readonly string[]): PropertyDecorator {
  const message = `must be one of ${sortable.join(', ')}; it is one attribute, and \`order\` its direction`;
  const holds = (value: unknown) => sortable.includes(value as string);
  return pureAttribute({ name: 'enum', message, holds }, [], { type: String, enum: [...sortable] }, { optional: true });
}

/** Declares `status`, or nothing if the resource has none. */
export function StatusParameter(statuses: readonly string[] | Record<string, string> | undefined): PropertyDecorator {
  if (!statuses) return () => undefined;
  const [example] = Object.values(statuses);
  return applyDecorators(
    OneOf(statuses, { optional: true }),
    ApiProperty({ description: 'Only items with this status.', example }),
  );
}

/** In words, where `search` looks. */
export function placesOf(names: readonly string[]): string {
  const places = names.map((name) => `\`${name}\``).join(' or ');
  return places || 'one of their searchable attributes';
}
