import { Check, Column, Entity, JoinColumn, ManyToOne, type Relation } from 'typeorm';
import { ResourceEntity, SearchableBy, SortableBy } from '../../platform';
import { Comment } from '../comments/comment.entity';
import { User } from '../users/user.entity';

@Entity('replies')
@SortableBy('comment_id', 'user_id', 'created_at', 'updated_at')
@SearchableBy('content')
@Check('replies_content_length', 'char_length(content) BETWEEN 1 AND 5000')
export class Reply extends ResourceEntity {
  @Column('bigint')
  comment_id: number;

  /** Deleting the comment deletes its replies. */
  @ManyToOne(() => Comment, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'comment_id', foreignKeyConstraintName: 'replies_comment_id_fkey' })
  comment?: Relation<Comment>;

  @Column('bigint')
  user_id: number;

  @ManyToOne(() => User, { onDelete: 'RESTRICT' })
  @JoinColumn({ name: 'user_id', foreignKeyConstraintName: 'replies_user_id_fkey' })
  user?: Relation<User>;

  @Column('text')
  content: string;
}
