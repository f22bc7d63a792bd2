import {
  type CallHandler,
  ClassSerializerInterceptor,
  Controller,
  Get,
  type NestInterceptor,
  Module,
  Query,
  SerializeOptions,
  UseInterceptors,
} from '@nestjs/common';
import { CacheInterceptor, CacheModule } from '@nestjs/cache-manager';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { Exclude } from 'class-transformer';
import { map } from 'rxjs';
import { Column, Entity, Repository } from 'typeorm';
import { AnswersPage, Page, paginate, Public, ResourceEntity } from '../../src/platform';
import { expectError, times } from '../../src/platform/testing';
import { ListPostsQuery, PostDto, toPostDto } from '../../src/resources/posts/post.dto';
import { Post, type PostStatus } from '../../src/resources/posts/post.entity';
import { fieldsOf } from '../support/csv';
import { useTestApi } from '../support/test-api';

/** More than one step reads. */
const POSTS = 60;
const CSV = { Accept: 'text/csv' };
const NDJSON = { Accept: 'application/x-ndjson' };

class ShownPost {
  title: string;

  @Exclude()
  content: string;

  constructor(partial: Partial<ShownPost>) {
    Object.assign(this, partial);
  }
}

/** The same rows, of which TypeORM has to make the entities. */
@Entity('posts')
class Letter extends ResourceEntity {
  @Column('text', { transformer: { from: (title: string) => title.toUpperCase(), to: (title: string) => title } })
  title: string;

  @Column('text')
  content: string;

  @Column('bigint')
  user_id: number;

  @Column('text')
  status: PostStatus;
}

/** Changes the items of a page where they are. */
class InPlace implements NestInterceptor {
  intercept(_context: unknown, next: CallHandler<Page<PostDto>>) {
    return next.handle().pipe(
      map((page) => {
        for (const item of page.data) item.content = 'secret';
        return page;
      }),
    );
  }
}

/** Makes another page of the items. */
class Copying implements NestInterceptor {
  intercept(_context: unknown, next: CallHandler<Page<object>>) {
    return next.handle().pipe(map(({ data, pagination }) => ({ data: data.slice(1), pagination })));
  }
}

/** Maps the items, as handlers do. */
class Mapping implements NestInterceptor {
  intercept(_context: unknown, next: CallHandler<Page<PostDto>>) {
    return next.handle().pipe(map((page) => page.map(({ id }) => ({ id, title: 'mapped' }))));
  }
}

@Controller('letters')
@Public()
class LettersController {
  constructor(
    @InjectRepository(Post) private readonly posts: Repository<Post>,
    @InjectRepository(Letter) private readonly letters: Repository<Letter>,
  ) {}

  private async page(query: ListPostsQuery): Promise<Page<object>> {
    return (await paginate(this.posts, query)).map(toPostDto);
  }

  @Get('converted')
  @AnswersPage(PostDto)
  async converted(@Query() query: ListPostsQuery): Promise<Page<object>> {
    return (await paginate(this.letters, query)).map((letter) => toPostDto(letter as unknown as Post));
  }

  @Get('in-place')
  @UseInterceptors(InPlace)
  @AnswersPage(PostDto)
  inPlace(@Query() query: ListPostsQuery) {
    return this.page(query);
  }

  @Get('copied')
  @UseInterceptors(Copying)
  @AnswersPage(PostDto)
  copied(@Query() query: ListPostsQuery) {
    return this.page(query);
  }

  @Get('mapped')
  @UseInterceptors(Mapping)
  @AnswersPage(PostDto)
  mapped(@Query() query: ListPostsQuery) {
    return this.page(query);
  }

  @Get('cached')
  @UseInterceptors(CacheInterceptor)
  @AnswersPage(PostDto)
  cached(@Query() query: ListPostsQuery) {
    return this.page(query);
  }

  @Get('serialized')
  @UseInterceptors(ClassSerializerInterceptor)
  @SerializeOptions({ type: ShownPost })
  @AnswersPage(PostDto)
  serialized(@Query() query: ListPostsQuery) {
    return paginate(this.posts, query);
  }

  @Get('within')
  @AnswersPage(PostDto)
  within(@Query() query: ListPostsQuery) {
    return this.posts.manager.transaction(async (manager) =>
      (await paginate(manager.getRepository(Post), query)).map(toPostDto),
    );
  }

  @Get('by-hand')
  @AnswersPage(PostDto)
  async byHand(@Query() query: ListPostsQuery) {
    const posts = await this.posts.find({ take: query.size ?? 5 });
    return new Page(posts.map(toPostDto), { page: 0, size: 5, total: POSTS, totalPages: POSTS / 5 });
  }

  /** What a list joins may have several rows for one of its own. */
  @Get('joined')
  @AnswersPage(PostDto)
  async joined(@Query() query: ListPostsQuery) {
    const where = (builder: { innerJoin: (table: string, alias: string, condition: string) => unknown }) =>
      builder.innerJoin('posts', 'other', 'other.id < 4');
    return (await paginate(this.posts, query, { where })).map(toPostDto);
  }
}

@Module({
  imports: [TypeOrmModule.forFeature([Post, Letter]), CacheModule.register({ ttl: 60_000 })],
  controllers: [LettersController],
})
class LettersModule {}

describe("A whole list of a team's own handlers", () => {
  const api = useTestApi({ imports: [LettersModule] });
  const warnings = () => api.app.log.filter(({ msg }) => String(msg).startsWith('A list was asked for as a whole'));

  beforeAll(async () => {
    const { id: user_id } = await api.user();
    await api.repository(Post).insert(times(POSTS, (index) => ({ title: `Post ${index}`, content: 'text', user_id })));
  });

  beforeEach(() => (api.app.log.length = 0));

  it('is changed by interceptors that map the items', async () => {
    const lines = fieldsOf((await api.get('/letters/mapped?sort=id', CSV)).text).slice(1);

    expect(lines).toHaveLength(POSTS);
    expect(lines.every((line) => line.includes('mapped') && !line.includes('text'))).toBe(true);
  });

  it("is made by Nest's ClassSerializerInterceptor", async () => {
    const lines = (await api.get('/letters/serialized', NDJSON)).text.split('\n').slice(0, -1);

    expect(lines).toHaveLength(POSTS);
    expect(lines.filter((line) => 'content' in JSON.parse(line))).toEqual([]);
  });

  it('is never cached, and none is made of a cached page', async () => {
    const asked = async (headers?: Record<string, string>) => (await api.get('/letters/cached', headers)).text;
    const page = await asked();

    expect(fieldsOf(await asked(CSV))).toHaveLength(POSTS + 1);
    expect(await asked(CSV)).toBe(await asked(CSV));
    expect((await asked(NDJSON)).split('\n')).toHaveLength(POSTS + 1);
    expect(JSON.parse(await asked()).data).toEqual(JSON.parse(page).data);
  });

  it('has rows that TypeORM has to make, in their order', async () => {
    const ids = async (path: string, accept = CSV) => fieldsOf((await api.get(path, accept)).text);
    const lines = await ids('/letters/converted?sort=created_at&order=desc&fields=id,title');
    const all = (await api.get('/letters/converted?sort=created_at&order=desc&size=100')).body.data as Post[];

    expect(lines.slice(1)).toEqual(all.map(({ id, title }) => [String(id), title]));
    expect(lines.at(-1)![1]).toMatch(/^POST /);
  });

  it('has each row once, whatever the list joins', async () => {
    const ids = fieldsOf((await api.get('/letters/joined?fields=id', CSV)).text)
      .slice(1)
      .flat();

    expect(ids).toHaveLength(POSTS);
    expect(new Set(ids).size).toBe(POSTS);
  });

  it('is 500 where an interceptor changes items in place, as it would leave out the later ones', async () => {
    expect((await api.get('/letters/in-place')).body.data[0].content).toBe('secret');
    expectError(await api.get('/letters/in-place', CSV), 'INTERNAL_ERROR');
  });

  it.each(['copied', 'within', 'by-hand'])(
    'is 406 where only pages can be had, and says why in the log: %s',
    async (route) => {
      expect((await api.get(`/letters/${route}`)).status).toBe(200);
      expect(warnings()).toEqual([]);
      expectError(await api.get(`/letters/${route}`, CSV), 'NOT_ACCEPTABLE');
      expect(warnings()).toHaveLength(1);
      // Its connection is there again.
      expect((await api.get('/letters/mapped', CSV)).status).toBe(200);
    },
  );
});
