import { Check, Column, Entity, Index, JoinColumn, ManyToOne, OneToMany, PrimaryColumn, type Relation } from 'typeorm';
import { ResourceEntity, SearchableBy, SortableBy } from '../../platform';
import { Product } from '../products/product.entity';
import { User } from '../users/user.entity';

export enum OrderStatus {
  PENDING = 'PENDING',
  PAID = 'PAID',
  SHIPPED = 'SHIPPED',
  DELIVERED = 'DELIVERED',
  CANCELLED = 'CANCELLED',
}

@Entity('orders')
@SortableBy('user_id', 'status', 'total_amount', 'created_at', 'updated_at')
@Index('orders_open_index', ['user_id'], { where: "status = 'PENDING'" })
@Index('orders_expires_at_index', ['expires_at'], { where: "status = 'PENDING'" })
@Check('orders_status_known', "status IN ('PENDING', 'PAID', 'SHIPPED', 'DELIVERED', 'CANCELLED')")
@Check('orders_total_amount_range', 'total_amount >= 0')
export class Order extends ResourceEntity {
  @Column('bigint')
  user_id: number;

  @ManyToOne(() => User, { onDelete: 'RESTRICT' })
  @JoinColumn({ name: 'user_id', foreignKeyConstraintName: 'orders_user_id_fkey' })
  user?: Relation<User>;

  @Column({ type: 'text', default: OrderStatus.PENDING })
  status: OrderStatus;

  @Column({ type: 'numeric', precision: 12, scale: 2 })
  total_amount: number;

  /** When a PENDING order is cancelled; null for never. */
  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  expires_at: Date | null;

  @OneToMany(() => OrderItem, (item) => item.order)
  items: Relation<OrderItem>[];
}

/** One line of an order, with the product's name and price at that time. */
@Entity('order_items')
@Index('order_items_product_id_index', ['product_id'])
@SearchableBy('name')
@Check('order_items_quantity_range', 'quantity BETWEEN 1 AND 1000')
@Check('order_items_unit_price_range', 'unit_price >= 0')
export class OrderItem {
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'order_items_pkey' })
  order_id: number;

  /** The position of the line in the order, from 0. */
  @PrimaryColumn({ type: 'integer', primaryKeyConstraintName: 'order_items_pkey' })
  position: number;

  @ManyToOne(() => Order, (order) => order.items, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'order_id', foreignKeyConstraintName: 'order_items_order_id_fkey' })
  order?: Relation<Order>;

  @Column('bigint')
  product_id: number;

  @ManyToOne(() => Product, { onDelete: 'RESTRICT' })
  @JoinColumn({ name: 'product_id', foreignKeyConstraintName: 'order_items_product_id_fkey' })
  product?: Relation<Product>;

  @Column('integer')
  quantity: number;

  @Column({ type: 'varchar', length: 120 })
  name: string;

  @Column({ type: 'numeric', precision: 12, scale: 2 })
  unit_price: number;
}
