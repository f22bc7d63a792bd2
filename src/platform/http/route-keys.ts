/** The DTO of a single resource that a route answers with. */
export const ITEM_TYPE = 'resource-api:item';
/** That a route answers with a page. */
export const IS_PAGE = 'resource-api:page';

/** Extensions that carry what these decorators know to the document, which then leaves them out. */
export const Extension = {
  ITEM: 'x-item',
  PAGE: 'x-page',
  RAISES: 'x-raises',
  HEADERS: 'x-headers',
  /** Of a parameter: the page is to send its example. */
  FILLED: 'x-filled',
  EXAMPLE: 'x-example',
  GROUP: 'x-group',
  /** The most that a body may have, in bytes. */
  BODY_LIMIT: 'x-body-limit',
  DEPRECATION: 'x-deprecation',
} as const;
