import { Column, PrimaryGeneratedColumn } from 'typeorm';

/**
 * The greatest id: the greatest integer that a JSON number represents exactly. The sequences and the id pipe respect
 * it.
 */
export const MAX_ID = Number.MAX_SAFE_INTEGER;

const setByTheDatabase = { insert: false, update: false } as const;

/**
 * The columns of every resource. The trigger `touch_row` (see the first migration) maintains `updated_at` and `version`
 * for every UPDATE, whatever code sends it. An UPDATE that changes nothing leaves both unchanged.
 */
export abstract class ResourceEntity {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'BY DEFAULT' })
  id: number;

  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()', ...setByTheDatabase })
  created_at: Date;

  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()', ...setByTheDatabase })
  updated_at: Date;

  @Column({ type: 'integer', default: 1, ...setByTheDatabase })
  version: number;
}
