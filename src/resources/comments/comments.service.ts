import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, In, Repository } from 'typeorm';
import {
  type Caller,
  deleteRow,
  type Page,
  paginate,
  type Precondition,
  requireSelfOrAdmin,
  updateRow,
} from '../../platform';
import { endDiscussion, joinDiscussion } from '../posts/discussion';
import { PostsService } from '../posts/posts.service';
import { onlyVisible } from '../posts/visible-posts';
import type { CreateCommentDto, ListAllCommentsQuery, ListCommentsQuery, PatchCommentDto } from './comment.dto';
import { Comment } from './comment.entity';

@Injectable()
export class CommentsService {
  constructor(
    @InjectRepository(Comment) private readonly comments: Repository<Comment>,
    private readonly posts: PostsService,
  ) {}

  listAll({ postId, userId, ...query }: ListAllCommentsQuery, caller: Caller | undefined): Promise<Page<Comment>> {
    return paginate(this.comments, query, {
      filter: { post_id: postId && In(postId), user_id: userId && In(userId) },
      // Checked in the statement itself, because the post may become a draft at any time.
      where: (builder) => onlyVisible(builder.innerJoin('resource.post', 'post'), 'post', caller),
    });
  }

  async list(postId: number, query: ListCommentsQuery, caller: Caller | undefined): Promise<Page<Comment>> {
    const page = await this.listAll({ ...query, postId: [postId] }, caller);
    // If the post is hidden from the caller, the answer is 404.
    if (page.data.length === 0) await this.posts.get(postId, caller);
    return page;
  }

  /** A comment on a post that is hidden from the caller isn't found. */
  get(id: number, caller: Caller | undefined): Promise<Comment> {
    return this.find(this.comments.manager, id, caller).getOneOrFail();
  }

  /**
   * The comment, locked against deletion until the transaction ends; null if there is none. Its post isn't locked:
   * deleting the post locks it before its comments, which could deadlock.
   */
  hold(manager: EntityManager, id: number, caller: Caller): Promise<Comment | null> {
    const comment = this.find(manager, id, caller);
    joinDiscussion(comment, ['comment', 'comment.id'], ['post', 'comment.post_id']);
    return comment.setLock('for_key_share', undefined, ['comment']).getOne();
  }

  create(postId: number, { content }: CreateCommentDto, caller: Caller): Promise<Comment> {
    return this.comments.manager.transaction(async (manager) => {
      await this.posts.hold(manager, postId, caller);
      const comment = manager.create(Comment, { post_id: postId, user_id: caller.id, content });
      await manager.insert(Comment, comment);
      return comment;
    });
  }

  async update(id: number, changes: PatchCommentDto, caller: Caller, expected?: Precondition): Promise<Comment> {
    requireSelfOrAdmin(caller, (await this.get(id, caller)).user_id);
    return updateRow(this.comments.manager, Comment, id, changes, expected);
  }

  async remove(id: number, caller: Caller, expected?: Precondition): Promise<void> {
    requireSelfOrAdmin(caller, (await this.get(id, caller)).user_id);
    await this.comments.manager.transaction(async (manager) => {
      await endDiscussion(manager, 'comment', id);
      await deleteRow(manager, Comment, id, expected);
    });
  }

  private find(manager: EntityManager, id: number, caller: Caller | undefined) {
    const builder = manager.createQueryBuilder(Comment, 'comment').innerJoin('comment.post', 'post');
    return onlyVisible(builder.where('comment.id = :id', { id }), 'post', caller);
  }
}
