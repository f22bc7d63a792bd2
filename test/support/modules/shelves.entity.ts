import { Check, Column, Entity, Index, JoinColumn, ManyToOne, OneToMany, PrimaryColumn, type Relation } from 'typeorm';
import { ResourceEntity, SortableBy } from '../../../src/platform';
import { Product } from '../../../src/resources/products/product.entity';

export enum Room {
  CELLAR = 'CELLAR',
  ATTIC = 'ATTIC',
}

/** The table has another name than the path, and two attributes are no columns: `size` is two, and `product_ids` are rows. */
@Entity('furniture')
@SortableBy('name', 'room', 'created_at', 'updated_at')
@Index('furniture_slug_unique', ['slug'], { unique: true })
@Check('furniture_room_known', "room IN ('CELLAR', 'ATTIC')")
export class Shelf extends ResourceEntity {
  @Column({ type: 'varchar', length: 40 })
  name: string;

  @Column({ type: 'varchar', length: 40 })
  slug: string;

  @Column({ type: 'uuid', nullable: true })
  serial: string | null;

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
