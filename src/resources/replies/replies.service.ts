import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, Repository } from 'typeorm';
import {
  type Caller,
  deleteRow,
  type Page,
  paginate,
  type Precondition,
  requireSelfOrAdmin,
  updateRow,
  validationError,
} from '../../platform';
import { CommentsService } from '../comments/comments.service';
import { onlyVisible } from '../posts/visible-posts';
import type { CreateReplyDto, GetReplyQuery, ListRepliesQuery, PatchReplyDto } from './reply.dto';
import { Reply } from './reply.entity';

@Injectable()
export class RepliesService {
  constructor(
    @InjectRepository(Reply) private readonly replies: Repository<Reply>,
    private readonly comments: CommentsService,
  ) {}

  list({ commentId, userId, ...query }: ListRepliesQuery, caller: Caller | undefined): Promise<Page<Reply>> {
    return paginate(this.replies, query, {
      filter: { comment_id: commentId && In(commentId), user_id: userId && In(userId) },
      where: (builder) =>
        onlyVisible(builder.innerJoin('resource.comment', 'comment').innerJoin('comment.post', 'post'), 'post', caller),
    });
  }

  /** A reply below a post that is hidden from the caller isn't found. */
  get(id: number, { commentId }: Pick<GetReplyQuery, 'commentId'>, caller: Caller | undefined): Promise<Reply> {
    const builder = this.replies
      .createQueryBuilder('reply')
      .innerJoin('reply.comment', 'comment')
      .innerJoin('comment.post', 'post')
      .where('reply.id = :id', { id });
    if (commentId !== undefined) builder.andWhere('reply.comment_id = :commentId', { commentId });
    return onlyVisible(builder, 'post', caller).getOneOrFail();
  }

  create({ comment_id, content }: CreateReplyDto, caller: Caller): Promise<Reply> {
    return this.replies.manager.transaction(async (manager) => {
      if (!(await this.comments.hold(manager, comment_id, caller))) throw noSuchComment();
      const reply = manager.create(Reply, { comment_id, user_id: caller.id, content });
      await manager.insert(Reply, reply);
      return reply;
    });
  }

  async update(id: number, changes: PatchReplyDto, caller: Caller, expected?: Precondition): Promise<Reply> {
    requireSelfOrAdmin(caller, (await this.get(id, {}, caller)).user_id);
    return updateRow(this.replies.manager, Reply, id, changes, expected);
  }

  async remove(id: number, caller: Caller, expected?: Precondition): Promise<void> {
    requireSelfOrAdmin(caller, (await this.get(id, {}, caller)).user_id);
    await deleteRow(this.replies.manager, Reply, id, expected);
  }
}

const noSuchComment = () => validationError([{ field: 'comment_id', rule: 'exists', message: 'must be a comment' }]);
