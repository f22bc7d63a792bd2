import { Check, Column, Entity, JoinColumn, ManyToOne, type Relation } from 'typeorm';
import { ResourceEntity, SearchableBy, SortableBy } from '../../platform';
import { Post } from '../posts/post.entity';
import { User } from '../users/user.entity';

@Entity('comments')
@SortableBy('post_id', 'user_id', 'created_at', 'updated_at')
@SearchableBy('content')
@Check('comments_content_length', 'char_length(content) BETWEEN 1 AND 5000')
export class Comment extends ResourceEntity {
  @Column('bigint')
  post_id: number;

  /** Deleting the post deletes its comments. */
  @ManyToOne(() => Post, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'post_id', foreignKeyConstraintName: 'comments_post_id_fkey' })
  post?: Relation<Post>;

  @Column('bigint')
  user_id: number;

  @ManyToOne(() => User, { onDelete: 'RESTRICT' })
  @JoinColumn({ name: 'user_id', foreignKeyConstraintName: 'comments_user_id_fkey' })
  user?: Relation<User>;

  @Column('text')
  content: string;
}
