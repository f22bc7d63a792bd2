import type { Type } from '@nestjs/common';
import type { DtoClass } from './fields';
import { FieldList } from './query-parameters';

/** The base class for the query of a single resource with parameters besides `fields`. */
export function ItemQueryOf(item: DtoClass): Type<{ fields?: string[] }> {
  class ItemQuery {
    @FieldList(item)
    fields?: string[];
  }
  return ItemQuery;
}
