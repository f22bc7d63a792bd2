import { Check, Column, DeleteDateColumn, Entity } from 'typeorm';
import { ResourceEntity, SortableBy } from '../../platform';

export enum ProductStatus {
  ACTIVE = 'ACTIVE',
  DISCONTINUED = 'DISCONTINUED',
}

@Entity('products')
@SortableBy('name', 'price', 'stock', 'status', 'created_at', 'updated_at')
@Check('products_name_length', 'char_length(name) >= 1')
@Check('products_price_range', 'price >= 0')
@Check('products_stock_range', 'stock >= 0')
@Check('products_status_known', "status IN ('ACTIVE', 'DISCONTINUED')")
export class Product extends ResourceEntity {
  @Column({ type: 'varchar', length: 120 })
  name: string;

  @Column({ type: 'varchar', length: 2000, nullable: true })
  description: string | null;

  /** An exact numeric, never a float. */
  @Column({ type: 'numeric', precision: 12, scale: 2 })
  price: number;

  @Column({ type: 'integer', default: 0 })
  stock: number;

  @Column({ type: 'text', default: ProductStatus.ACTIVE })
  status: ProductStatus;

  /** The key of a picture. Triggers keep it true: see the table `shown_pictures`. */
  @Column({ type: 'uuid', nullable: true })
  image: string | null;

  /** Set when the product was deleted. The row is hidden then, but orders still refer to it. */
  @DeleteDateColumn({ type: 'timestamptz', precision: 3, nullable: true })
  deleted_at: Date | null;
}
