import type { Fixtures, Row } from './fixtures';

export interface PreparedRequest {
  /** The values of the path's parameters. */
  ids?: (number | string)[];
  /** Including the question mark. */
  query?: string;
  /** Bytes are sent unchanged. */
  body?: object;
  headers?: Record<string, string>;
}

/** Prepares a request that succeeds if its caller is allowed to make it, on rows of the owner. */
export type Prepare = (own: Fixtures) => PreparedRequest | Promise<PreparedRequest>;

/** A request without parameters. */
export const plain: Prepare = () => ({});

/** A request for the row that `make` inserts. */
export const on =
  (make: (own: Fixtures) => Promise<Row>, body?: object): Prepare =>
  async (own) => ({ ids: [(await make(own)).id], body });

/** A request for the owner. */
export const onOwner =
  (body?: () => object): Prepare =>
  ({ owner }) => ({ ids: [owner.id], body: body?.() });
