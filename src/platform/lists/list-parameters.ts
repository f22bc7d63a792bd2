import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { pureAttribute } from '../input/attribute';
import { OneOf, Text } from '../input/attributes';
import { attributesOf, type DtoClass } from '../input/fields';
import { type SortableEntity, sortableOf } from '../rows/sortable-by';
import { CURSOR_PATTERN, MAX_CURSOR } from './cursor';
import { compares, momentsAsTexts } from './filters';

const MAX_SEARCH = 100;
/** What `deleted=only` is read as. A symbol, as a list may have a parameter of its own with this name. */
export const DELETED_ONLY = Symbol('deleted=only');
/** The attribute that tells when a row has changed. */
export const CHANGED = 'updated_at';
/**
 * Seconds that a caller takes off the newest `updated_at` it has seen, before it asks for what has changed since: more than
 * the longest request may take with its COMMIT. The documents of the API name this number (D-270).
 */
export const SINCE_MARGIN = 60;

const SINCE =
  'Only items whose `updated_at` is this or later. `updated_at` is when the transaction of the change began, so a change that ' +
  `commits late is older than others that were visible before it: ask again from the newest \`updated_at\` seen, minus ` +
  `${SINCE_MARGIN} seconds. Deleted items are not among them.`;
const DELETED =
  'Only deleted items, in their last state, instead of the others. For administrators: other callers get 400.';

/** One attribute: whoever knows of `sort=a,-b` elsewhere is told how it is here. */
export function SortKey(sortable: readonly string[]): PropertyDecorator {
  const message = `must be one of ${sortable.join(', ')}; it is one attribute, and \`order\` its direction`;
  const holds = (value: unknown) => sortable.includes(value as string);
  return pureAttribute({ name: 'enum', message, holds }, [], { type: String, enum: [...sortable] }, { optional: true });
}

/**
 * What a list of an entity is sorted by.
 * @throws {Error} for an attribute that the DTO doesn't show: the order of a list would tell what it is
 */
export function shownOf(entity: SortableEntity, item: DtoClass): readonly string[] {
  const names = sortableOf(entity);
  const shown = attributesOf(item);
  const hidden = names.find((name) => !shown.includes(name));
  if (hidden === undefined) return names;
  throw new Error(
    `${entity.name} is sortable by ${hidden}, which ${item.name} doesn't show: name what lists may sort by`,
  );
}

/** Declares `status`, or nothing if the resource has none. */
export function StatusParameter(statuses: readonly string[] | Record<string, string> | undefined): PropertyDecorator {
  if (!statuses) return nothing;
  const [example] = Object.values(statuses);
  return applyDecorators(
    OneOf(statuses, { optional: true }),
    ApiProperty({ description: 'Only items with this status.', example }),
  );
}

/** Declares `cursor`. */
export const CursorParameter = (): PropertyDecorator =>
  applyDecorators(
    ApiProperty({
      pattern: CURSOR_PATTERN,
      description: 'Leads to a page: `next` or `previous` of another page of the same list.',
    }),
    Text({ max: MAX_CURSOR, optional: true }),
  );

/** Declares `updated_since`, if the items of the list tell when they have changed. */
export function SinceParameter(isTold: boolean): PropertyDecorator {
  return isTold ? compares('updated_since', CHANGED, momentsAsTexts, SINCE, (value) => ['>=', value]) : nothing;
}

/** Declares `deleted`, if the rows of the list are only hidden when they are deleted. */
export function DeletedParameter(isKept: boolean): PropertyDecorator {
  if (!isKept) return nothing;
  const message = 'must be only, or left out for the items that are not deleted';
  const holds = (value: unknown) => value === DELETED_ONLY;
  const documentation = { type: String, enum: ['only'], description: DELETED, example: 'only' };
  return pureAttribute({ name: 'enum', message, holds }, [], documentation, { optional: true }, (value) =>
    value === 'only' ? DELETED_ONLY : value,
  );
}

const nothing: PropertyDecorator = () => undefined;

/** Declares `search`. @param names the columns that it looks through, as far as they are known */
export const SearchParameter = (names: readonly string[]): PropertyDecorator =>
  applyDecorators(
    ApiProperty({
      description: `Only items that contain this text in ${placesOf(names)}, in upper or lower case.`,
      example: 'a',
    }),
    Text({ min: 1, max: MAX_SEARCH, optional: true }),
  );

/** In words, where `search` looks. */
function placesOf(names: readonly string[]): string {
  const places = names.map((name) => `\`${name}\``).join(' or ');
  return places || 'one of their searchable attributes';
}
