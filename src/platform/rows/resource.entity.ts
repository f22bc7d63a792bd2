import { Column, PrimaryGeneratedColumn } from 'typeorm';

/** Ids stop where a JSON number stops being exact; the sequences and the id pipe keep to it. */
export const MAX_ID = Number.MAX_SAFE_INTEGER;

const setByTheDatabase = { insert: false, update: false } as const;

/**
 * What every resource has. The trigger `touch_row` (see the first migration) keeps `updated_at` and `version`: it sees
 * every UPDATE, whoever sends it, and an UPDATE that changes nothing leaves both as they are.
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
