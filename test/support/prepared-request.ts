import type { Belongings, Row } from './belongings';

export interface PreparedRequest {
  /** What stands in the places of the path's parameters. */
  ids?: (number | string)[];
  /** With its question mark. */
  query?: string;
  /** Bytes are sent as they are. */
  body?: object;
  headers?: Record<string, string>;
}

/** A request that succeeds, if only its caller may: on things of their own. */
export type Prepare = (own: Belongings) => PreparedRequest | Promise<PreparedRequest>;

/** A request that needs nothing. */
export const plain: Prepare = () => ({});

/** A request on what `make` makes. */
export const on =
  (make: (own: Belongings) => Promise<Row>, body?: object): Prepare =>
  async (own) => ({ ids: [(await make(own)).id], body });

/** A request on the owner. */
export const onOwner =
  (body?: () => object): Prepare =>
  ({ owner }) => ({ ids: [owner.id], body: body?.() });
