import { ClassSerializerInterceptor } from '@nestjs/common';
import { Page } from './page';
import { VERSION, VIEW } from '../http/entity-tag';
import { Verbatim } from './envelope';

type Serialize = ClassSerializerInterceptor['serialize'];

const ADAPTED = Symbol('adapted');
const MARKS = [VERSION, VIEW] as const;

/**
 * Makes Nest's ClassSerializerInterceptor serialize the items of a page like those of a list, with all options of
 * `@SerializeOptions()`. The items keep their versions for the entity tag. The interceptor's own copy of a page would
 * lose both.
 */
export function adaptSerializer(): void {
  const prototype = ClassSerializerInterceptor.prototype as { serialize: Serialize & { [ADAPTED]?: true } };
  const serialize = prototype.serialize;
  if (serialize[ADAPTED]) return;
  const adapted: Serialize = function (this: ClassSerializerInterceptor, value, options) {
    if (value instanceof Page) {
      return (value as Page<object>).mapAll((items) => serialize.call(this, items, options) as object[]);
    }
    if (value instanceof Verbatim) return new Verbatim(serialize.call(this, value.body, options));
    return marked(value, serialize.call(this, value, options));
  };
  prototype.serialize = Object.assign(adapted, { [ADAPTED]: true as const });
}

function marked<T>(original: unknown, copy: T): T {
  if (typeof original !== 'object' || original === null || typeof copy !== 'object' || copy === null) return copy;
  const marks = original as Record<symbol, unknown>;
  for (const mark of MARKS) if (marks[mark] !== undefined) (copy as Record<symbol, unknown>)[mark] = marks[mark];
  return copy;
}
