import { defaultsOf } from '../../src/platform/input/defaults';
import { attributesOf, type DtoClass } from '../../src/platform/input/fields';

/** What @nestjs/swagger keeps of an attribute. */
interface Documented {
  required?: boolean;
  default?: unknown;
}

export function documented({ prototype }: DtoClass, attribute: string): Documented {
  return (Reflect.getMetadata('swagger/apiModelProperties', prototype as object, attribute) ?? {}) as Documented;
}

/** What a DTO says that its attributes take when they are left out: what a body is given, and what only the document says. */
export function declaredDefaults(dto: DtoClass): Record<string, unknown> {
  const said = attributesOf(dto).map((name): [string, unknown] => [name, documented(dto, name).default]);
  return { ...Object.fromEntries(said.filter(([, value]) => value !== undefined)), ...defaultsOf(dto) };
}
