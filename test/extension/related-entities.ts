import {
  ChildEntity,
  Column,
  Entity,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  type Relation,
  TableInheritance,
  ViewColumn,
  ViewEntity,
} from 'typeorm';
import { ResourceEntity } from '../../src/platform';

@Entity('labels')
export class Label extends ResourceEntity {
  @Column({ unique: true })
  text: string;
}

@Entity('articles')
export class Article extends ResourceEntity {
  @Column()
  title: string;

  @ManyToMany(() => Label, { eager: true, cascade: ['insert'] })
  @JoinTable()
  labels: Label[];

  @OneToMany(() => Remark, (remark) => remark.article)
  remarks: Relation<Remark>[];
}

@Entity('remarks')
export class Remark extends ResourceEntity {
  @Column()
  text: string;

  @ManyToOne(() => Article, (article) => article.remarks, { lazy: true })
  article: Promise<Article>;
}

@Entity('translations')
export class Translation extends ResourceEntity {
  @Column('bigint')
  article_id: number;

  @ManyToOne(() => Article, { eager: true })
  @JoinColumn({ name: 'article_id' })
  article: Article;
}

@Entity('media')
@TableInheritance({ column: { type: 'varchar', name: 'kind' } })
export class Medium extends ResourceEntity {
  @Column()
  title: string;
}

@ChildEntity()
export class Photo extends Medium {
  @Column()
  size: string;
}

@ChildEntity()
export class Film extends Medium {
  @Column()
  minutes: number;
}

@ViewEntity('titles', {
  expression: 'SELECT id, created_at, updated_at, version, upper(title) AS big_title FROM watched',
})
export class Title {
  @ViewColumn()
  id: number;

  @ViewColumn()
  created_at: Date;

  @ViewColumn()
  updated_at: Date;

  @ViewColumn()
  version: number;

  @ViewColumn({ name: 'big_title' })
  bigTitle: string;
}
