import type { Type } from '@nestjs/common';
import type { DtoClass } from './fields';
import { FieldList, IncludeList } from './query-parameters';

/** The base class for the query of a single resource with parameters besides `fields` and `include`. */
export function ItemQueryOf(item: DtoClass): Type<{ fields?: string[]; include?: string[] }> {
  class ItemQuery {
    @FieldList(item)
    fields?: string[];

    @IncludeList()
    include?: string[];
  }
  return ItemQuery;
}
