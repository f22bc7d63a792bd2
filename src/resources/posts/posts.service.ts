import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, In, Repository } from 'typeorm';
import {
  type Caller,
  deleteRow,
  insertRow,
  type Page,
  paginate,
  type Precondition,
  requireSelfOrAdmin,
  updateRow,
} from '../../platform';
import { UsersService } from '../users/users.service';
import { endDiscussion, joinDiscussion } from './discussion';
import type { CreatePostDto, ListPostsQuery, ListUserPostsQuery, PatchPostDto } from './post.dto';
import { Post } from './post.entity';
import { onlyVisible } from './visible-posts';

@Injectable()
export class PostsService {
  constructor(
    @InjectRepository(Post) private readonly posts: Repository<Post>,
    private readonly users: UsersService,
  ) {}

  list({ userId, ...query }: ListPostsQuery, caller: Caller | undefined): Promise<Page<Post>> {
    return paginate(this.posts, query, {
      filter: { user_id: userId && In(userId) },
      where: (builder) => onlyVisible(builder, 'resource', caller),
    });
  }

  async listOf(userId: number, query: ListUserPostsQuery, caller: Caller | undefined): Promise<Page<Post>> {
    await this.users.get(userId);
    return this.list({ ...query, userId: [userId] }, caller);
  }

  get(id: number, caller: Caller | undefined): Promise<Post> {
    return this.find(this.posts.manager, id, caller).getOneOrFail();
  }

  /** A post of another user isn't found. */
  async getOf(userId: number, id: number, caller: Caller | undefined): Promise<Post> {
    await this.users.get(userId);
    return this.find(this.posts.manager, id, caller).andWhere('post.user_id = :userId', { userId }).getOneOrFail();
  }

  /** Locks a post against deletion until the transaction ends. Its text, which may be long, isn't read. */
  async hold(manager: EntityManager, id: number, caller: Caller): Promise<void> {
    const post = joinDiscussion(this.find(manager, id, caller), ['post', 'post.id']);
    await post.select('post.id').setLock('for_key_share').getOneOrFail();
  }

  create(input: CreatePostDto, userId: number): Promise<Post> {
    return insertRow(this.posts.manager, Post, { ...input, user_id: userId });
  }

  async createFor(userId: number, input: CreatePostDto, caller: Caller): Promise<Post> {
    requireSelfOrAdmin(caller, (await this.users.get(userId)).id);
    return this.create(input, userId);
  }

  async update(id: number, changes: PatchPostDto, caller: Caller, expected?: Precondition): Promise<Post> {
    requireSelfOrAdmin(caller, (await this.get(id, caller)).user_id);
    return updateRow(this.posts.manager, Post, id, changes, expected);
  }

  /** Foreign keys delete its comments and their replies. */
  async remove(id: number, caller: Caller, expected?: Precondition): Promise<void> {
    requireSelfOrAdmin(caller, (await this.get(id, caller)).user_id);
    await this.posts.manager.transaction(async (manager) => {
      await endDiscussion(manager, 'post', id);
      await deleteRow(manager, Post, id, expected);
    });
  }

  private find(manager: EntityManager, id: number, caller: Caller | undefined) {
    return onlyVisible(manager.createQueryBuilder(Post, 'post').where('post.id = :id', { id }), 'post', caller);
  }
}
