import type { DtoClass } from './fields';

/** What is declared of a value: enough to read a text as the type that is meant. */
export interface Declared {
  type: 'number' | 'boolean' | 'array' | 'object' | 'string';
  /** The items of a list, or of an object that may stand for a list. */
  items?: Declared;
  /** The attributes of an object. */
  of?: (name: string) => Declared | undefined;
}

/** The documentation of an attribute, as @nestjs/swagger keeps it. */
interface Documented {
  type?: unknown;
  isArray?: boolean;
  items?: Documented;
}

const SWAGGER_PROPERTY = 'swagger/apiModelProperties';
const DESIGN_TYPE = 'design:type';
const SIMPLE = new Map<unknown, Declared | undefined>([
  ...[Number, 'number', 'integer'].map((type): [unknown, Declared] => [type, { type: 'number' }]),
  ...[Boolean, 'boolean'].map((type): [unknown, Declared] => [type, { type: 'boolean' }]),
  ...[String, 'string', Date].map((type): [unknown, Declared] => [type, { type: 'string' }]),
  ...[Array, 'array'].map((type): [unknown, Declared] => [type, { type: 'array' }]),
  [Object, undefined],
  ['object', undefined],
]);

/** What the type of a parameter or an attribute declares. Undefined where it says nothing, as `any`. */
export function declaredBy(type: unknown): Declared | undefined {
  if (SIMPLE.has(type)) return SIMPLE.get(type);
  if (typeof type !== 'function') return undefined;
  return { type: 'object', of: (name) => declaredOf(type as DtoClass, name) };
}

function declaredOf(dto: DtoClass, name: string): Declared | undefined {
  const prototype = dto.prototype as object;
  const documented = Reflect.getMetadata(SWAGGER_PROPERTY, prototype, name) as Documented | undefined;
  return documented?.type === undefined
    ? declaredBy(Reflect.getMetadata(DESIGN_TYPE, prototype, name))
    : fromDocumented(documented);
}

function fromDocumented({ type, isArray, items }: Documented): Declared | undefined {
  if (type === 'array') return { type: 'array', items: items && fromDocumented(items) };
  const one = declaredBy(classOf(type));
  return isArray ? { type: 'array', items: one } : one;
}

/** @nestjs/swagger recognises a function that returns a class by the name `type`. */
function classOf(type: unknown): unknown {
  return typeof type === 'function' && type.name === 'type' ? (type as () => unknown)() : type;
}
