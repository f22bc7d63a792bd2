import { createCipheriv, createDecipheriv, createHash } from 'node:crypto';
import {
  AfterLoad,
  BeforeInsert,
  BeforeRemove,
  BeforeUpdate,
  Column,
  CreateDateColumn,
  DeleteDateColumn,
  Entity,
  EntitySchema,
  type EntitySubscriberInterface,
  EventSubscriber,
  Generated,
  type InsertEvent,
  PrimaryGeneratedColumn,
  type RemoveEvent,
  UpdateDateColumn,
  type UpdateEvent,
  type ValueTransformer,
  VersionColumn,
  VirtualColumn,
} from 'typeorm';
import { ResourceEntity } from '../../src/platform';
import { Article, Film, Label, Medium, Photo, Remark, Title, Translation } from './related-entities';

/** What listeners and subscribers were told, in order. */
export const told: string[] = [];

@Entity('listening')
export class Listening extends ResourceEntity {
  @Column()
  title: string;

  @Column({ nullable: true })
  slug: string;

  /** No column. */
  shout: string;

  @BeforeInsert()
  @BeforeUpdate()
  setSlug(): void {
    this.slug = this.title.toLowerCase();
  }

  @BeforeRemove()
  sayGoodbye(): void {
    told.push(`goodbye ${this.title}`);
  }

  @AfterLoad()
  setShout(): void {
    this.shout = `${this.title}!`;
  }
}

@Entity('watched')
export class Watched extends ResourceEntity {
  @Column()
  title: string;
}

@EventSubscriber()
export class WatchedSubscriber implements EntitySubscriberInterface<Watched> {
  listenTo() {
    return Watched;
  }

  beforeInsert({ entity }: InsertEvent<Watched>): void {
    told.push(`insert ${entity.title}`);
  }

  afterUpdate({ entity, databaseEntity }: UpdateEvent<Watched>): void {
    told.push(`update ${databaseEntity.title} to ${entity!.title}`);
  }

  beforeRemove({ entity }: RemoveEvent<Watched>): void {
    told.push(`remove ${entity!.title}`);
  }

  afterLoad(entity: Watched): void {
    told.push(`load ${entity.title}`);
  }
}

@Entity('dated')
export class Dated extends ResourceEntity {
  @Column()
  title: string;

  @CreateDateColumn({ name: 'made_at' })
  madeAt: Date;

  @UpdateDateColumn({ name: 'changed_at' })
  changedAt: Date;

  @DeleteDateColumn({ name: 'removed_at' })
  removedAt: Date | null;

  @VersionColumn()
  revision: number;
}

/** Plain but for the name of the column that hides its rows. */
@Entity('hideable')
export class Hideable extends ResourceEntity {
  @Column({ name: 'full_title' })
  fullTitle: string;

  @DeleteDateColumn({ name: 'removed_at', type: 'timestamptz' })
  removedAt: Date | null;
}

export class Name {
  @Column({ nullable: true })
  first: string;

  @Column({ nullable: true })
  last: string;
}

@Entity('persons')
export class Person extends ResourceEntity {
  @Column(() => Name)
  name: Name;
}

const KEY = createHash('sha256').update('a key of a test').digest();

/** As the documentation's example: encrypts what it stores. */
const encryption: ValueTransformer = {
  to: (text: string | null | undefined) => {
    if (text === null || text === undefined) return text;
    const cipher = createCipheriv('aes-256-ctr', KEY, Buffer.alloc(16));
    return cipher.update(text, 'utf8', 'hex') + cipher.final('hex');
  },
  from: (text: string | null) => {
    if (text === null) return text;
    const decipher = createDecipheriv('aes-256-ctr', KEY, Buffer.alloc(16));
    return decipher.update(text, 'hex', 'utf8') + decipher.final('utf8');
  },
};

@Entity('secrets')
export class Secret extends ResourceEntity {
  @Column({ transformer: encryption })
  content: string;

  @Column({
    type: 'bigint',
    nullable: true,
    transformer: { to: (n: bigint) => n?.toString(), from: (n) => n && BigInt(n) },
  })
  amount: bigint | null;
}

@Entity('columned')
export class Columned extends ResourceEntity {
  @Column({ name: 'due_on', type: 'date', nullable: true })
  dueOn: string | null;

  @Column({ select: false, nullable: true })
  password: string;

  @Column({ insert: false, nullable: true })
  later: string;

  @Column({ update: false, nullable: true })
  once: string;

  @Column({ default: 'as it was' })
  note: string;

  /** A method and an accessor, which a plain object hasn't got. */
  get summary(): string {
    return `${this.id}: ${this.note}`;
  }
}

@Entity('accessed')
export class Accessed extends ResourceEntity {
  private text: string;

  @Column()
  get title(): string {
    return this.text;
  }

  set title(title: string) {
    this.text = title.trim();
  }
}

@Entity('elsewhere', { schema: 'billing' })
export class Elsewhere extends ResourceEntity {
  @Column()
  title: string;
}

export interface Schemed {
  id: number;
  version: number;
  updated_at: Date;
  dueOn: string | null;
}

export const SchemedEntity = new EntitySchema<Schemed>({
  name: 'schemed',
  columns: {
    id: { type: 'bigint', primary: true, generated: 'increment' },
    version: { type: 'integer', default: 1, insert: false, update: false },
    updated_at: { type: 'timestamptz', default: () => 'now()', insert: false, update: false },
    dueOn: { type: 'date', name: 'due_on', nullable: true },
  },
});

@Entity('documents')
export class Document extends ResourceEntity {
  @Column('jsonb')
  lines: { text: string }[];

  @Column('text', { array: true })
  tags: string[];

  @Column('bytea')
  seal: Buffer;
}

@Entity('tickets')
export class Ticket {
  @PrimaryGeneratedColumn('uuid')
  id: string;

  @Column()
  @Generated('uuid')
  token: string;

  @Column()
  seat: string;
}

@Entity('measured')
export class Measured extends ResourceEntity {
  @Column()
  title: string;

  @VirtualColumn({ query: (alias) => `SELECT length(${alias}.title)` })
  letters: number;

  @Column({ type: 'text', asExpression: 'lower(title)', generatedType: 'STORED' })
  lowered: string;

  @DeleteDateColumn({ type: 'timestamptz' })
  deleted_at: Date | null;
}

export const entities = [
  ...[Listening, Watched, Dated, Hideable, Person, Secret, Columned, Elsewhere, Label, Article, Remark],
  ...[Medium, Photo, Film, Title, Document, Accessed, Translation, Ticket, Measured],
];
