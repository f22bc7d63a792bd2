import { validationError } from '../errors/api-error';

export type DtoClass = new () => object;

/** Of a list of names, in characters: many times what all attributes of a resource take. */
const MAX_NAMES = 2_048;
/** Where @nestjs/swagger keeps the names of a class's documented attributes, each behind a colon, in their order. */
const SWAGGER_PROPERTIES = 'swagger/apiModelPropertiesArray';

/** Where the plugin of @nestjs/swagger puts what it has read in a class. */
const PLUGIN_METADATA = '_OPENAPI_METADATA_FACTORY';

interface WithPlugin {
  prototype?: object;
  [PLUGIN_METADATA]?: () => object;
}

/** The names of the attributes that a DTO documents, in the resource's own order. */
export function attributesOf(dto: DtoClass): string[] {
  const names = Reflect.getMetadata(SWAGGER_PROPERTIES, dto.prototype as object) as string[] | undefined;
  const explicit = (names ?? []).map((name) => name.slice(1));
  return [...new Set([...explicit, ...namesByPlugin(dto)])];
}

/** What the compiler's plugin documents, which stands among the others only when a document was made of it. */
function namesByPlugin(dto: DtoClass): string[] {
  const names: string[] = [];
  for (let type = dto as WithPlugin | null; type?.prototype; type = Object.getPrototypeOf(type) as WithPlugin | null) {
    if (Object.hasOwn(type, PLUGIN_METADATA)) names.push(...Object.keys(type[PLUGIN_METADATA]!()));
  }
  return names;
}

/** The names in a `fields` parameter; one that no attribute has when there is more than that. */
export function namesIn(text: string): string[] {
  return text.length > MAX_NAMES ? [''] : text.split(',').map((name) => name.trim());
}

/**
 * The attributes that a `fields` parameter names, in the resource's own order.
 * @throws {ApiError} VALIDATION_ERROR when one is unknown, or there are more than there can be
 */
export function parseFields(text: string, attributes: string[]): string[] {
  const names = namesIn(text);
  const named = new Set(names);
  if (names.length > attributes.length || names.some((name) => !attributes.includes(name))) {
    throw validationError([{ field: 'fields', rule: 'enum', message: `must name some of ${attributes.join(', ')}` }]);
  }
  return attributes.filter((name) => named.has(name));
}

/**
 * A representation reduced to some of its attributes.
 * @throws {ApiError} VALIDATION_ERROR when this caller's representation lacks one
 */
export function project(item: object, fields: string[]): object {
  const values = item as Record<string, unknown>;
  const hidden = fields.find((name) => values[name] === undefined);
  if (hidden) throw validationError([{ field: 'fields', rule: 'access', message: `${hidden} is not for you to read` }]);
  return Object.fromEntries(fields.map((name) => [name, values[name]]));
}
