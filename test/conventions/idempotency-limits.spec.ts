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
import { type Answer, expectError, times } from '../../src/platform/testing';
import { aNewUser } from '../support/builders';
import { useTestApi } from '../support/test-api';

const keyed = (key: string = randomUUID()) => ({ 'Idempotency-Key': key });
const isReplayed = ({ headers }: Answer) => headers.get('idempotent-replayed') === 'true';

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
