import { Column, CreateDateColumn, DeleteDateColumn, Entity, PrimaryGeneratedColumn, UpdateDateColumn } from 'typeorm';

@Entity('users')
export class User {
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
  username: string;

  @Column('varchar', { nullable: true })
  name: string | null;

  @Column('text')
  status: string;

  @Column('uuid', { nullable: true })
  image: string | null;

  @DeleteDateColumn({ type: 'timestamptz', precision: 3, select: false })
  deleted_at?: Date | null;
}
