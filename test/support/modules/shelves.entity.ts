import { Check, Column, Entity, Index, JoinColumn, ManyToOne, OneToMany, PrimaryColumn, type Relation } from 'typeorm';
import { ResourceEntity, SortableBy } from '../../../src/platform';
import { Product } from '../../../src/resources/products/product.entity';

export enum Room {
  CELLAR = 'CELLAR',
  ATTIC = 'ATTIC',
}

/**
 * The table has another name than the path, and two attributes are no columns: `size` is two, and `product_ids` are rows.
 * A unique attribute that may be null stands there in each kind.
 */
@Entity('furniture')
@SortableBy('name', 'room', 'created_at', 'updated_at')
@Index('furniture_slug_unique', ['slug'], { unique: true })
@Index('furniture_serial_unique', ['serial'], { unique: true })
@Index('furniture_tag_unique', ['tag'], { unique: true })
@Index('furniture_keeper_unique', ['keeper'], { unique: true })
@Index('furniture_page_unique', ['page'], { unique: true })
@Index('furniture_number_unique', ['number'], { unique: true })
@Index('furniture_stamp_unique', ['stamp'], { unique: true })
@Index('furniture_weight_unique', ['weight'], { unique: true })
@Index('furniture_price_unique', ['price'], { unique: true })
@Index('furniture_bought_on_unique', ['bought_on'], { unique: true })
@Index('furniture_seen_at_unique', ['seen_at'], { unique: true })
@Check('furniture_room_known', "room IN ('CELLAR', 'ATTIC')")
export class Shelf extends ResourceEntity {
  @Column({ type: 'varchar', length: 40 })
  name: string;

  @Column({ type: 'varchar', length: 40 })
  slug: string;

  @Column({ type: 'uuid', nullable: true })
  serial: string | null;

  @Column({ type: 'varchar', length: 40, nullable: true })
  tag: string | null;

  @Column({ type: 'varchar', length: 254, nullable: true })
  keeper: string | null;

  @Column({ type: 'varchar', length: 2048, nullable: true })
  page: string | null;

  @Column({ type: 'integer', nullable: true })
  number: number | null;

  @Column({ type: 'bigint', nullable: true })
  stamp: number | null;

  @Column({ type: 'numeric', precision: 9, scale: 3, nullable: true })
  weight: number | null;

  @Column({ type: 'numeric', precision: 12, scale: 2, nullable: true })
  price: number | null;

  @Column({ type: 'date', nullable: true })
  bought_on: string | null;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  seen_at: Date | null;

  @Column({ type: 'text', default: Room.CELLAR })
  room: Room;

  @Column({ type: 'integer', default: 0 })
  width: number;

  @Column({ type: 'integer', default: 0 })
  height: number;

  @OneToMany(() => ShelvedProduct, ({ shelf }) => shelf)
  products?: Relation<ShelvedProduct>[];
}

@Entity('shelved_products')
export class ShelvedProduct {
  @PrimaryColumn('bigint')
  shelf_id: number;

  @PrimaryColumn('integer')
  position: number;

  @ManyToOne(() => Shelf, ({ products }) => products, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'shelf_id', foreignKeyConstraintName: 'shelved_products_shelf_id_fkey' })
  shelf?: Relation<Shelf>;

  @Column('bigint')
  product_id: number;

  @ManyToOne(() => Product, { onDelete: 'RESTRICT' })
  @JoinColumn({ name: 'product_id', foreignKeyConstraintName: 'shelved_products_product_id_fkey' })
  product?: Relation<Product>;
}

/** A child whose routes are all nested. */
@Entity('slots')
@SortableBy('label', 'created_at', 'updated_at')
export class Slot extends ResourceEntity {
  @Column('bigint')
  shelf_id: number;

  @ManyToOne(() => Shelf, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'shelf_id', foreignKeyConstraintName: 'slots_shelf_id_fkey' })
  shelf?: Relation<Shelf>;

  @Column({ type: 'varchar', length: 20 })
  label: string;
}
