import {
  ConsoleLogger,
  Controller,
  Get,
  Injectable,
  Logger,
  type LoggerService,
  type MessageEvent,
  Module,
  Post,
  Sse,
} from '@nestjs/common';
import { InjectPinoLogger, PinoLogger } from 'nestjs-pino';
import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { interval, map, type Observable, take } from 'rxjs';
import { Idempotent, Public, Role, Roles } from '../../src/platform';
import { FollowedReads } from '../../src/platform/process/followed-reads';
import { type Answer, times } from '../../src/platform/testing';
import { ProductsController } from '../../src/resources/products/products.controller';
import { UsersController } from '../../src/resources/users/users.controller';
import { type TestUser, useTestApi } from '../support/test-api';
import { startApp } from '../support/test-app';

@Injectable()
class NotesService {
  private readonly logger = new Logger('Notes');

  async find(): Promise<object> {
    await turnOfTheLoop();
    this.logger.log('found');
    return {};
  }
}

@Injectable()
class AssigningService {
  constructor(@InjectPinoLogger('Assigning') private readonly log: PinoLogger) {}

  async work(): Promise<object> {
    this.log.assign({ step: 'first' });
    await turnOfTheLoop();
    this.log.info('worked');
    new Logger('Beside').warn({ own: 1 }, 'beside');
    return {};
  }
}

@Controller('notes')
@Roles(Role.USER)
class NotesController {
  constructor(
    private readonly notes: NotesService,
    private readonly assigning: AssigningService,
  ) {}

  @Get()
  find(): Promise<object> {
    return this.notes.find();
  }

  @Post()
  @Idempotent()
  create(): Promise<object> {
    return this.notes.find();
  }

  @Get('assigned')
  assigned(): Promise<object> {
    return this.assigning.work();
  }

  @Post('assigned')
  assign(): Promise<object> {
    return this.assigning.work();
  }

  @Sse('events')
  @Public()
  events(): Observable<MessageEvent> {
    return interval(5).pipe(
      take(3),
      map((data) => ({ data: { data } })),
    );
  }
}

@Module({ controllers: [NotesController], providers: [NotesService, AssigningService] })
class NotesModule {}

describe('A line that is logged while a request is handled', () => {
  const api = useTestApi({ imports: [NotesModule] });
  let user: TestUser;

  beforeAll(async () => {
    user = await api.user();
  });

  const linesOf = ({ headers }: Answer) =>
    api.app.log.filter(({ request_id, msg }) => request_id === headers.get('x-request-id') && msg !== 'request');

  it.each([
    ['GET', {}],
    ['POST', {}],
    ['POST', { 'Idempotency-Key': 'logged' }],
  ])("by Nest's logger tells which one it is, and whose, in %s %j", async (method, headers: Record<string, string>) => {
    const answer = await api.as(user).send(method, '/notes', undefined, headers);

    expect(linesOf(answer)).toEqual([expect.objectContaining({ context: 'Notes', msg: 'found', user_id: user.id })]);
  });

  it.each(['GET', 'POST'])('by PinoLogger has what was assigned to this request alone, in %s', async (method) => {
    const answers = await Promise.all(times(3, () => api.as(user).send(method, '/notes/assigned')));
    const later = await api.as(user).send(method, '/notes');

    for (const answer of answers) {
      expect(linesOf(answer)).toEqual([
        expect.objectContaining({ context: 'Assigning', msg: 'worked', step: 'first', user_id: user.id }),
        expect.objectContaining({ context: 'Beside', msg: 'beside', step: 'first', own: 1, user_id: user.id }),
      ]);
    }
    expect(linesOf(later)[0]).not.toHaveProperty('step');
  });

  it('belongs to no request where none is handled', () => {
    new Logger('Job').log('done');

    const line = api.app.log.find(({ context }) => context === 'Job');
    expect(line).toMatchObject({ msg: 'done' });
    expect(line).not.toHaveProperty('request_id');
  });

  it('costs server-sent events nothing', async () => {
    const { text } = await api.get('/notes/events');

    expect(text.match(/^data: /gm)).toHaveLength(3);
  });

  it('is all that makes reads be followed: those of the service itself are not', () => {
    expect(api.app.nest.get(FollowedReads)).toBeDefined();
    const interceptors = (controller: object) => Reflect.getMetadata('__interceptors__', controller) as unknown;
    expect(interceptors(NotesController)).toHaveLength(1);
    expect([UsersController, ProductsController].map(interceptors)).toEqual([undefined, undefined]);
  });
});

describe("Nest's logger", () => {
  it('may be replaced by another, as an application does in main.ts', async () => {
    const lines: unknown[][] = [];
    const service: LoggerService = {
      log: (...line: unknown[]) => void lines.push(line),
      error: (...line: unknown[]) => void lines.push(line),
      warn: (...line: unknown[]) => void lines.push(line),
    };
    class Recording extends ConsoleLogger {
      override log(...line: [unknown]): void {
        lines.push(line);
      }
    }
    const app = await startApp({ prepare: (nest) => nest.useLogger(service) });
    try {
      new Logger('Mine').log('by a service');
      Logger.overrideLogger(new Recording());
      new Logger('Mine').log('by a class');
      expect(lines).toEqual(
        expect.arrayContaining([
          ['by a service', 'Mine'],
          ['by a class', 'Mine'],
        ]),
      );
    } finally {
      await app.stop();
    }
  });
});
