import { Check, Column, DeleteDateColumn, Entity, Index } from 'typeorm';
import { ResourceEntity } from '../../platform';

export enum ProductStatus {
  ACTIVE = 'ACTIVE',
  DISCONTINUED = 'DISCONTINUED',
}

const present = 'deleted_at IS NULL';

@Entity('products')
@Index('products_name_sort', ['name', 'id'], { where: present })
@Index('products_price_sort', ['price', 'id'], { where: present })
@Index('products_stock_sort', ['stock', 'id'], { where: present })
@Index('products_status_sort', ['status', 'id'], { where: present })
@Index('products_created_at_sort', ['created_at', 'id'], { where: present })
@Index('products_updated_at_sort', ['updated_at', 'id'], { where: present })
@Index('products_name_search', { synchronize: false })
@Index('products_description_search', { synchronize: false })
@Check('products_name_length', 'char_length(name) >= 1')
@Check('products_price_range', 'price >= 0')
@Check('products_stock_range', 'stock >= 0')
@Check('products_status_known', "status IN ('ACTIVE', 'DISCONTINUED')")
export class Product extends ResourceEntity {
  @Column({ type: 'varchar', length: 120 })
  name: string;

  @Column({ type: 'varchar', length: 2000, nullable: true })
  description: string | null;

  /** Exact: numeric, never a float on the way into a sum. */
  @Column({ type: 'numeric', precision: 12, scale: 2 })
  price: number;

  @Column({ type: 'integer', default: 0 })
  stock: number;

  @Column({ type: 'text', default: ProductStatus.ACTIVE })
  status: ProductStatus;

  /** Hidden since then; orders keep pointing at it. */
  @DeleteDateColumn({ type: 'timestamptz', precision: 3, nullable: true })
  deleted_at: Date | null;
}
