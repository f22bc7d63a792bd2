import { Column, CreateDateColumn, DeleteDateColumn, Entity, PrimaryGeneratedColumn, UpdateDateColumn } from 'typeorm';

@Entity('products')
export class Product {
  @PrimaryGeneratedColumn({ type: 'bigint' })
  id: number;

  @CreateDateColumn({ type: 'timestamptz', precision: 3 })
  created_at: Date;

  @UpdateDateColumn({ type: 'timestamptz', precision: 3 })
  updated_at: Date;

  /** Kept by a trigger of the database. */
  @Column({ type: 'integer', update: false, insert: false })
  version: number;

  @Column('varchar')
  name: string;

  @Column('varchar', { nullable: true })
  description: string | null;

  @Column('numeric', { precision: 12, scale: 2, transformer: { from: Number, to: (price: number) => price } })
  price: number;

  @Column('integer', { default: 0 })
  stock: number;

  @Column('text', { default: 'ACTIVE' })
  status: string;

  @Column('uuid', { nullable: true })
  image: string | null;

  @DeleteDateColumn({ type: 'timestamptz', precision: 3, select: false })
  deleted_at?: Date | null;
}
