import { validationError } from '../errors/api-error';

export type DtoClass = new () => object;

/** The greatest length of a list of names in characters, many times that of all attributes of a resource. */
const MAX_NAMES = 2_048;
/**
 * The metadata key under which @nestjs/swagger keeps the names of documented attributes in order, each after a colon.
 */
const SWAGGER_PROPERTIES = 'swagger/apiModelPropertiesArray';

/** The static method in which the plugin of @nestjs/swagger puts what it has read from a class. */
const PLUGIN_METADATA = '_OPENAPI_METADATA_FACTORY';

interface WithPlugin {
  prototype?: object;
  [PLUGIN_METADATA]?: () => object;
}

/** The names of the documented attributes of a DTO, in their order. */
export function attributesOf(dto: DtoClass): string[] {
  const names = Reflect.getMetadata(SWAGGER_PROPERTIES, dto.prototype as object) as string[] | undefined;
  const explicit = (names ?? []).map((name) => name.slice(1));
  return [...new Set([...explicit, ...namesByPlugin(dto)])];
}

/** The names that the compiler's plugin documents. They are among the other names only after a document was made. */
function namesByPlugin(dto: DtoClass): string[] {
  const names: string[] = [];
  for (let type = dto as WithPlugin | null; type?.prototype; type = Object.getPrototypeOf(type) as WithPlugin | null) {
    if (Object.hasOwn(type, PLUGIN_METADATA)) names.push(...Object.keys(type[PLUGIN_METADATA]!()));
  }
  return names;
}

/** The names in a `fields` parameter. For a text that is too long, a name that no attribute has. */
export function namesIn(text: string): string[] {
  return text.length > MAX_NAMES ? [''] : text.split(',').map((name) => name.trim());
}

/**
 * The attributes that a `fields` parameter names, in the order of the resource.
 * @throws {ApiError} VALIDATION_ERROR when a name is unknown, or the text is too long
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
 * Reduces a representation to some attributes.
 * @throws {ApiError} VALIDATION_ERROR when the representation for this caller has no such attribute
 */
export function project(item: object, fields: string[]): object {
  const values = item as Record<string, unknown>;
  const hidden = fields.find((name) => values[name] === undefined);
  if (hidden) throw validationError([{ field: 'fields', rule: 'access', message: `${hidden} is not for you to read` }]);
  return Object.fromEntries(fields.map((name) => [name, values[name]]));
}
