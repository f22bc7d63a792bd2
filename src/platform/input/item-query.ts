import type { Type } from '@nestjs/common';
import type { DtoClass } from './fields';
import { FieldList } from './query-parameters';

/** The query parameters of a single resource that takes others besides `fields`, as a class to extend. */
export function ItemQueryOf(item: DtoClass): Type<{ fields?: string[] }> {
  class ItemQuery {
    @FieldList(item)
    fields?: string[];
  }
  return ItemQuery;
}
