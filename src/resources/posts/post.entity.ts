import { Check, Column, Entity, JoinColumn, ManyToOne, type Relation } from 'typeorm';
import { ResourceEntity, SearchableBy, SortableBy } from '../../platform';
import { User } from '../users/user.entity';

export enum PostStatus {
  DRAFT = 'DRAFT',
  PUBLISHED = 'PUBLISHED',
}

@Entity('posts')
@SortableBy('user_id', 'title', 'status', 'created_at', 'updated_at')
@SearchableBy('title', 'content')
@Check('posts_title_length', 'char_length(title) >= 1')
@Check('posts_content_length', 'char_length(content) BETWEEN 1 AND 50000')
@Check('posts_status_known', "status IN ('DRAFT', 'PUBLISHED')")
export class Post extends ResourceEntity {
  @Column('bigint')
  user_id: number;

  @ManyToOne(() => User, { onDelete: 'RESTRICT' })
  @JoinColumn({ name: 'user_id', foreignKeyConstraintName: 'posts_user_id_fkey' })
  user?: Relation<User>;

  @Column({ type: 'varchar', length: 200 })
  title: string;

  @Column('text')
  content: string;

  @Column({ type: 'text', default: PostStatus.PUBLISHED })
  status: PostStatus;
}
