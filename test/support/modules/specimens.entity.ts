import { Check, Column, Entity, Index, JoinColumn, ManyToOne, type Relation } from 'typeorm';
import { ResourceEntity, SearchableBy, SortableBy } from '../../../src/platform';
import { User } from '../../../src/resources/users/user.entity';

export enum SpecimenStatus {
  DRY = 'DRY',
  WET = 'WET',
}

export enum Use {
  SHOW = 'SHOW',
  STUDY = 'STUDY',
  LOAN = 'LOAN',
}

/** A column of each kind, as docs/adding-a-resource.md has it for the attribute. */
@Entity('specimens')
@SortableBy(
  ...(['name', 'serial', 'fragile', 'level', 'population', 'weight', 'price', 'found_on', 'seen_at'] as const),
  ...(['status', 'finder_id', 'created_at', 'updated_at'] as const),
)
@SearchableBy('name', 'note')
@Index('specimens_contact_index', ['contact', 'id'])
@Check('specimens_name_length', 'char_length(name) >= 1')
@Check('specimens_homepage_form', "homepage ~ '^https?://'")
@Check('specimens_level_range', 'level BETWEEN -100 AND 100')
@Check('specimens_population_range', 'population BETWEEN -9007199254740991 AND 9007199254740991')
@Check('specimens_price_range', 'price >= 0')
@Check('specimens_found_on_range', "found_on BETWEEN '0001-01-01' AND '9999-12-31'")
@Check('specimens_status_known', "status IN ('DRY', 'WET')")
@Check('specimens_uses_known', "uses <@ ARRAY['SHOW', 'STUDY', 'LOAN']")
@Check('specimens_labels_length', 'cardinality(labels) <= 5')
@Check('specimens_helper_ids_length', 'cardinality(helper_ids) <= 4')
@Check('specimens_extra_type', "jsonb_typeof(extra) = 'object'")
@Check('specimens_dimensions_type', "jsonb_typeof(dimensions) = 'object'")
@Check('specimens_parts_type', "jsonb_typeof(parts) = 'array'")
export class Specimen extends ResourceEntity {
  @Column({ type: 'varchar', length: 40 })
  name: string;

  @Column({ type: 'varchar', length: 500, nullable: true })
  note: string | null;

  @Column({ type: 'varchar', length: 254, nullable: true })
  contact: string | null;

  @Column({ type: 'varchar', length: 2048, nullable: true })
  homepage: string | null;

  @Column({ type: 'uuid', nullable: true })
  serial: string | null;

  @Column({ type: 'boolean', default: false })
  fragile: boolean;

  @Column({ type: 'integer', default: 0 })
  level: number;

  @Column({ type: 'bigint', default: 0 })
  population: number;

  @Column({ type: 'numeric', precision: 9, scale: 3, nullable: true })
  weight: number | null;

  @Column({ type: 'numeric', precision: 12, scale: 2, default: 0 })
  price: number;

  @Column({ type: 'date', nullable: true })
  found_on: string | null;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  seen_at: Date | null;

  @Column({ type: 'text', default: SpecimenStatus.DRY })
  status: SpecimenStatus;

  @Column({ type: 'text', array: true, default: [] })
  uses: Use[];

  @Column({ type: 'text', array: true, default: [] })
  labels: string[];

  @Column({ type: 'jsonb', default: () => "'{}'" })
  extra: object;

  @Column({ type: 'jsonb', nullable: true })
  dimensions: object | null;

  @Column({ type: 'jsonb', default: [] })
  parts: object[];

  /** Kept true by `linkRows`. */
  @Column({ type: 'bigint', array: true, default: [] })
  helper_ids: number[];

  @Column({ type: 'bigint', nullable: true })
  finder_id: number | null;

  @ManyToOne(() => User, { onDelete: 'RESTRICT' })
  @JoinColumn({ name: 'finder_id', foreignKeyConstraintName: 'specimens_finder_id_fkey' })
  finder?: Relation<User>;
}
