/** Metadata key of the DTO of the single resource that a route answers. */
export const ITEM_TYPE = 'resource-api:item';
/** Metadata key of the DTO of the items, for a route that answers a page. */
export const PAGE_TYPE = 'resource-api:page';
/** Metadata key of a route whose body may be a list of inputs. */
export const CREATES_EACH = 'resource-api:creates-each';

/** OpenAPI extensions that pass on what decorators know. They are removed from the finished document. */
export const Extension = {
  ITEM: 'x-item',
  PAGE: 'x-page',
  /** The body may be a list of inputs. */
  EACH: 'x-each',
  RAISES: 'x-raises',
  HEADERS: 'x-headers',
  /** For a parameter: Swagger UI sends its example. */
  FILLED: 'x-filled',
  EXAMPLE: 'x-example',
  GROUP: 'x-group',
  /** The greatest size of a body in bytes. */
  BODY_LIMIT: 'x-body-limit',
  /** Further media types of the answer. */
  ALSO: 'x-also',
  DEPRECATION: 'x-deprecation',
} as const;
