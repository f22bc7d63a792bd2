import { randomUUID } from 'node:crypto';
import {
  Body,
  type CallHandler,
  Controller,
  type ExecutionContext,
  Injectable,
  Module,
  type NestInterceptor,
  Param,
  ParseIntPipe,
  type PipeTransform,
  Post,
  UseInterceptors,
} from '@nestjs/common';
import { Transform } from 'class-transformer';
import { map } from 'rxjs';
import { DataSource } from 'typeorm';
import { Public } from '../../src/platform/auth/access.decorators';
import { Creates } from '../../src/platform/routes/route.decorators';
import { Text } from '../../src/platform/input/attributes';
import { ResourceDto } from '../../src/platform/answers/resource.dto';
import { IdempotencyKeys } from '../../src/platform/idempotency/idempotency-keys';
import { Belongings } from '../support/belongings';
import { expectError } from '../support/expectations';
import { aNewUser } from '../support/builders';
import { documentedRoutes, requestOf, routesOf, sendTo } from '../support/requests';
import { RowLock } from '../support/row-lock';
import { type Answer, type Client, countStatuses, times, useTestApi } from '../support/test-api';

const keyed = (key: string = randomUUID()) => ({ 'Idempotency-Key': key });
const isReplayed = ({ headers }: Answer) => headers.get('idempotent-replayed') === 'true';
const PRINTABLE = String.fromCharCode(...times(95, (index) => 32 + index)).trim();

/** How often each was asked. */
const asked = { body: 0, path: 0, handler: 0 };

class NoteDto extends ResourceDto {
  @Text({ min: 1, max: 20 })
  text: string;
}

class CreateNoteDto {
  @Text({ min: 1, max: 20 })
  @Transform(({ value }: { value: unknown }) => {
    asked.body++;
    return value;
  })
  text: string;
}

@Injectable()
class CountingPipe implements PipeTransform<string, string> {
  transform(value: string): string {
    asked.path++;
    return value;
  }
}

/** What is behind the key's own interceptor belongs to the answer that is kept. */
@Injectable()
class ShoutingInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler<NoteDto>) {
    return next.handle().pipe(map(({ text, ...note }) => ({ ...note, text: text.toUpperCase() })));
  }
}

@Controller('notes')
@Public()
class NotesController {
  /** Decorators stand on both sides of the one that claims the key. */
  @UseInterceptors(ShoutingInterceptor)
  @Creates(NoteDto)
  @Post(':shelf/:place')
  create(
    @Param('shelf', CountingPipe) _shelf: string,
    @Param('place', ParseIntPipe) place: number,
    @Body() { text }: CreateNoteDto,
  ): NoteDto {
    asked.handler++;
    return { id: place, text } as NoteDto;
  }
}

@Module({ controllers: [NotesController] })
class NotesModule {}

describe('An idempotency key', () => {
  const api = useTestApi();
  let admin: Client;
  let own: Belongings;
  let user: Client;

  beforeAll(async () => {
    admin = api.as(await api.admin());
    const owner = await api.user();
    user = api.as(owner);
    own = new Belongings(api, owner);
  });

  const query = (text: string) => api.app.nest.get(DataSource).query<Record<string, never>[]>(text);
  const count = async (table: string) => Number((await query(`SELECT count(*) FROM ${table}`))[0].count);
  /** Without tokens, which are secrets, and uploads, which are resumed by what their protocol has for that. */
  const posts = () => routesOf(api).filter((route) => route.startsWith('POST ') && !/\/auth\/|\/uploads$/.test(route));

  it('gives a repetition the first answer, on every route that creates something', async () => {
    const promised = documentedRoutes(({ spec }) =>
      spec.parameters.some(({ name }: { name: string }) => name === 'Idempotency-Key'),
    );
    expect(promised).toContain('POST /api/v1/products');
    expect(posts().sort()).toEqual(promised);
    for (const route of posts()) {
      const request = await requestOf(route, own);
      const caller = admin.with(keyed());
      const first = await sendTo(caller, route, request);
      const table = route.split('/').at(-1)!;
      const rows = await count(table);
      const again = await sendTo(caller, route, request);

      expect([route, first.status, isReplayed(first)]).toEqual([route, 201, false]);
      expect([route, again.status, isReplayed(again), again.text]).toEqual([route, 201, true, first.text]);
      for (const name of ['location', 'etag', 'content-type', 'cache-control']) {
        expect([route, name, again.headers.get(name)]).toEqual([route, name, first.headers.get(name)]);
      }
      expect(await count(table)).toBe(rows);
    }
  });

  it('is no hindrance to a request without one, or with another', async () => {
    const body = { title: 'A post', content: 'A text' };
    const rows = await count('posts');
    for (const headers of [keyed(), keyed(), {}, {}]) {
      expect((await user.post('/posts', body, headers)).status).toBe(201);
    }
    expect(await count('posts')).toBe(rows + 4);
  });

  it('is 422 with another request', async () => {
    const body = { title: 'A post', content: 'A text' };
    const headers = keyed();
    expect((await user.post('/posts', body, headers)).status).toBe(201);

    const others = [
      user.post('/posts', { ...body, title: 'Another' }, headers),
      user.post('/replies', { comment_id: 1, content: 'x' }, headers),
      user.post('//api/v2/posts', body, headers),
      user.post(`/users/${own.owner.id}/posts`, body, headers),
    ];
    for (const answer of await Promise.all(others)) {
      expect([409, 422]).toContain(answer.status);
    }
    expectError(await user.post('/posts', { ...body, title: 'Another' }, headers), 'IDEMPOTENCY_KEY_REUSED');
    expect(isReplayed(await user.post('/posts', body, headers))).toBe(true);
  });

  it('belongs to its caller', async () => {
    const headers = keyed();
    const body = { title: 'A post', content: 'A text' };
    const [mine, other] = [await user.post('/posts', body, headers), await admin.post('/posts', body, headers)];

    expect([mine.status, other.status, isReplayed(other)]).toEqual([201, 201, false]);
    expect(mine.body.data.id).not.toBe(other.body.data.id);
  });

  it('belongs, without an account, to the address and the route', async () => {
    const headers = keyed();
    const newcomer = aNewUser();
    const first = await api.post('/users', newcomer, headers);
    const again = await api.post('/users', newcomer, headers);

    expect([first.status, again.status, isReplayed(again), again.text]).toEqual([201, 201, true, first.text]);
    expectError(await api.post('/users', aNewUser(), headers), 'IDEMPOTENCY_KEY_REUSED');
    expectError(await api.post('/users', newcomer, keyed()), 'CONFLICT');
  });

  it('lets a request have its effect once, however many come at the same time', async () => {
    const product = await own.product({ stock: 100 });
    const body = { items: [{ product_id: product.id, quantity: 1 }] };
    const headers = keyed();
    const answers = await Promise.all(times(30, () => user.post('/orders', body, headers)));

    const made = answers.filter(({ status }) => status === 201);
    expect(Object.keys(countStatuses(answers)).filter((status) => !['201', '409'].includes(status))).toEqual([]);
    expect(made.filter((answer) => !isReplayed(answer))).toHaveLength(1);
    expect(new Set(made.map(({ text }) => text)).size).toBe(1);
    expect((await admin.get(`/products/${product.id}`)).body.data.stock).toBe(99);
  });

  it('is 409, with the time to wait, while the first request is in progress', async () => {
    const headers = keyed();
    const body = { title: 'A post', content: 'A text' };
    const lock = await RowLock.ofUser(api.app.databaseUrl, own.owner.id);
    const first = user.post('/posts', body, headers);
    await lock.awaitedBy(1);

    const second = await user.post('/posts', body, headers);
    expect(expectError(second, 'CONFLICT').details).toContain('in progress');
    expect(second.headers.get('retry-after')).toBe('1');
    await lock.release();
    expect((await first).status).toBe(201);
    expect(isReplayed(await user.post('/posts', body, headers))).toBe(true);
  });

  it('is not used up by a failure, which leaves no trace', async () => {
    const product = await own.product({ stock: 0 });
    const order = { items: [{ product_id: product.id, quantity: 1 }] };
    const headers = keyed();
    const rows = await count('idempotency_keys');

    expectError(await user.post('/orders', order, headers), 'CONFLICT');
    expectError(await user.post('/orders', { items: [] }, headers), 'VALIDATION_ERROR');
    expectError(await api.post('/orders', order, headers), 'UNAUTHORIZED');
    expect(await count('idempotency_keys')).toBe(rows);
    await admin.patch(`/products/${product.id}`, { stock: 1 });
    expect((await user.post('/orders', order, headers)).status).toBe(201);
    expect(isReplayed(await user.post('/orders', order, headers))).toBe(true);
  });

  it('is anything printable of 1 to 255 characters', async () => {
    const body = { title: 'A post', content: 'A text' };
    for (const key of ['x', '"quoted"', PRINTABLE, 'k'.repeat(255)]) {
      expect((await user.post('/posts', body, keyed(key))).status).toBe(201);
      expect(isReplayed(await user.post('/posts', body, keyed(key)))).toBe(true);
    }
    for (const key of ['', 'k'.repeat(256), 'tab\tin', 'ünicode']) {
      const answer = await user.post('/posts', body, keyed(key));
      expectError(answer, 'VALIDATION_ERROR', { fields: { 'Idempotency-Key': 'key' } });
    }
  });

  it('is forgotten after 24 hours', async () => {
    const body = { title: 'A post', content: 'A text' };
    const [old, young] = [keyed(), keyed()];
    const first = await user.post('/posts', body, old);
    await query("UPDATE idempotency_keys SET created_at = now() - interval '24 hours 1 second'");
    const second = await user.post('/posts', body, young);
    expect((await user.post('/posts', body, old)).body.data.id).not.toBe(first.body.data.id);

    await query("UPDATE idempotency_keys SET created_at = now() - interval '23 hours 59 minutes' WHERE tag = '1'");
    await user.post('/posts', body, keyed());
    await query(`UPDATE idempotency_keys SET created_at = now() - interval '25 hours'
                  WHERE id = (SELECT id FROM idempotency_keys ORDER BY created_at DESC LIMIT 1)`);
    const rows = await count('idempotency_keys');
    await api.app.nest.get(IdempotencyKeys).removeExpired();
    expect(await count('idempotency_keys')).toBe(rows - 1);
    expect(isReplayed(await user.post('/posts', body, young))).toBe(true);
    expect((await user.post('/posts', body, young)).body.data.id).toBe(second.body.data.id);
  });

  it('is stored without a secret: neither the key, nor what was sent, can be read or tried', async () => {
    const key = `secret-key-${randomUUID()}`;
    const password = 'a secret of this very test';
    await api.post('/users', aNewUser({ password }), keyed(key));
    const rows = await query(
      "SELECT encode(id, 'escape') AS id, encode(fingerprint, 'escape') AS f, headers::text, body FROM idempotency_keys",
    );

    expect(rows.length).toBeGreaterThan(0);
    expect(JSON.stringify(rows)).not.toContain(password);
    expect(JSON.stringify(rows)).not.toContain(key);
  });

  it('is refused where the answer holds secrets, and means nothing to methods that may be repeated anyway', async () => {
    const signIn = { username: own.owner.username, password: own.owner.password };
    const refused = await api.post('/auth/tokens', signIn, keyed());
    const { details } = expectError(refused, 'VALIDATION_ERROR', { fields: { 'Idempotency-Key': 'unknown' } });
    expect(details).toContain('secrets');

    const { id } = await own.product();
    for (const stock of [1, 2]) {
      const answer = await admin.patch(`/products/${id}`, { stock }, keyed('the same'));
      expect([answer.status, answer.body.data.stock, isReplayed(answer)]).toEqual([200, stock, false]);
    }
  });
});

describe('A request with an idempotency key that is not valid', () => {
  const POOL_SIZE = 2;
  const api = useTestApi({ imports: [NotesModule], settings: { DATABASE_POOL_SIZE: String(POOL_SIZE) } });
  const mistakes: [name: string, path: string, body: object][] = [
    ['a broken rule', '/notes/a/1', { text: '' }],
    ['an unknown attribute', '/notes/a/1', { text: 'a', more: 1 }],
    ['an unknown parameter', '/notes/a/1?more=1', { text: 'a' }],
    ["a path parameter that its route's own pipe refuses", '/notes/a/one', { text: 'a' }],
  ];

  it.each(mistakes)('is 400 for %s, with a key that is new and with one that is known', async (_name, path, body) => {
    const headers = keyed();
    expectError(await api.post(path, body, headers), 'VALIDATION_ERROR');
    expect((await api.post('/notes/a/1', { text: 'a' }, headers)).status).toBe(201);
    expectError(await api.post(path, body, headers), 'VALIDATION_ERROR');
    expectError(await api.post('/notes/a/1', { text: 'b' }, headers), 'IDEMPOTENCY_KEY_REUSED');
  });

  it('is 400 before it takes a connection, of which none has to be left', async () => {
    const database = api.app.nest.get(DataSource);
    const busy = times(POOL_SIZE, () => database.createQueryRunner());
    await Promise.all(busy.map((connection) => connection.connect()));
    try {
      for (const [, path, body] of mistakes) expectError(await api.post(path, body, keyed()), 'VALIDATION_ERROR');
    } finally {
      await Promise.all(busy.map((connection) => connection.release()));
    }
  });

  it('is validated once, as every other, and its handler runs for the first attempt alone', async () => {
    const headers = keyed();
    Object.assign(asked, { body: 0, path: 0, handler: 0 });
    const first = await api.post('/notes/a/7', { text: 'quiet' }, headers);
    expect([first.status, first.body.data]).toEqual([201, { id: 7, text: 'QUIET' }]);
    expect(asked).toEqual({ body: 1, path: 1, handler: 1 });

    const again = await api.post('/notes/a/7', { text: 'quiet' }, headers);
    expect([again.text, isReplayed(again)]).toEqual([first.text, true]);
    expect(asked).toEqual({ body: 2, path: 2, handler: 1 });
  });
});

describe('The idempotency keys of one caller', () => {
  const LIMIT = 3;
  const api = useTestApi({ settings: { IDEMPOTENCY_KEY_LIMIT: String(LIMIT) } });
  const body = { title: 'A post', content: 'A text' };

  it('are limited: one more is 429, and those that are known, and other callers, are none the worse', async () => {
    const [user, other] = [api.as(await api.user()), api.as(await api.user())];
    const keys = times(LIMIT, () => keyed());
    for (const headers of keys) expect((await user.post('/posts', body, headers)).status).toBe(201);

    const late = keyed();
    const refused = await user.post('/posts', body, late);
    expectError(refused, 'TOO_MANY_REQUESTS');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    for (const headers of keys) expect(isReplayed(await user.post('/posts', body, headers))).toBe(true);
    expect((await other.post('/posts', body, late)).status).toBe(201);
    expect((await user.post('/posts', body)).status).toBe(201);

    const age = "UPDATE idempotency_keys SET created_at = now() - interval '25 hours' WHERE ctid IN";
    await api.app.nest.get(DataSource).query(`${age} (SELECT ctid FROM idempotency_keys ORDER BY created_at LIMIT 1)`);
    expect((await user.post('/posts', body, late)).status).toBe(201);
    expectError(await user.post('/posts', body, keyed()), 'TOO_MANY_REQUESTS');
    // The first of them was forgotten, and would be one too many.
    expectError(await user.post('/posts', body, keys[0]), 'TOO_MANY_REQUESTS');
  });

  it('are limited for an address without an account, whichever route it asks', async () => {
    for (const headers of times(LIMIT, () => keyed())) {
      expect((await api.post('/users', aNewUser(), headers)).status).toBe(201);
    }
    expectError(await api.post('/users', aNewUser(), keyed()), 'TOO_MANY_REQUESTS');
    expect((await api.post('/users', aNewUser())).status).toBe(201);
  });
});
