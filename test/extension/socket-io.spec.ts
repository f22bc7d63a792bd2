import {
  type CanActivate,
  type ExecutionContext,
  type INestApplication,
  Injectable,
  Module,
  ParseIntPipe,
  UseFilters,
  UseGuards,
  UseInterceptors,
  UsePipes,
  type CallHandler,
  type NestInterceptor,
  Catch,
  type ArgumentsHost,
  ValidationPipe,
} from '@nestjs/common';
import { IoAdapter } from '@nestjs/platform-socket.io';
import {
  BaseWsExceptionFilter,
  ConnectedSocket,
  MessageBody,
  type OnGatewayConnection,
  type OnGatewayInit,
  SubscribeMessage,
  WebSocketGateway,
  WebSocketServer,
  WsException,
  type WsResponse,
} from '@nestjs/websockets';
import { IsInt, IsString } from 'class-validator';
import { from, map, type Observable } from 'rxjs';
import type { Server, Socket } from 'socket.io';
import type { Socket as Client } from 'socket.io-client';
import { DataSource } from 'typeorm';
import { type Caller, CurrentUser, Public, Role, Roles } from '../../src/platform';
import { connect, disconnectAll, told } from '../support/socket-io';
import { type TestUser, useTestApi } from '../support/test-api';

class CreateEventDto {
  @IsString()
  name: string;

  @IsInt()
  count: number;
}

@Injectable()
class NoGuestsGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { guest } = context.switchToWs().getData<{ guest?: boolean }>();
    if (guest) throw new WsException('No guests');
    return true;
  }
}

@Injectable()
class TransformInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler<unknown>): Observable<unknown> {
    return next.handle().pipe(map((data) => ({ data })));
  }
}

@Catch()
class AllExceptionsFilter extends BaseWsExceptionFilter {
  override catch(exception: unknown, host: ArgumentsHost): void {
    super.catch(exception, host);
  }
}

/** The options of the server are those of the first gateway on its port, in the order of Nest. */
const cors = { origin: 'https://app.example.com' };

@WebSocketGateway({ cors })
class EventsGateway implements OnGatewayInit, OnGatewayConnection {
  @WebSocketServer()
  server: Server;

  readonly connected: string[] = [];

  constructor(private readonly database: DataSource) {}

  /** As https://socket.io/docs/v4/middlewares/ has it, for browsers, which can't send headers. */
  afterInit(server: Server): void {
    server.use((socket, next) => {
      const { token } = socket.handshake.auth as { token?: string };
      if (token) socket.request.headers.authorization ??= `Bearer ${token}`;
      next();
    });
  }

  handleConnection(client: Socket): void {
    this.connected.push(client.id);
  }

  @SubscribeMessage('events')
  @Public()
  handleEvent(@MessageBody() data: string, @ConnectedSocket() client: Socket): string {
    return `${data} of ${this.connected.includes(client.id) ? 'a client' : 'a stranger'}`;
  }

  @SubscribeMessage('identity')
  @Public()
  identity(@MessageBody('id') id: number): number {
    return id;
  }

  @SubscribeMessage('parsed')
  @Public()
  parsed(@MessageBody('id', ParseIntPipe) id: number): number {
    return id;
  }

  @SubscribeMessage('many')
  @Public()
  findAll(): Observable<WsResponse<number>> {
    return from([1, 2, 3]).pipe(map((data) => ({ event: 'many', data })));
  }

  @SubscribeMessage('broadcast')
  @Roles(Role.ADMIN)
  broadcast(@MessageBody() data: string): void {
    this.server.emit('news', data);
  }

  @SubscribeMessage('mine')
  @Roles(Role.USER)
  mine(@CurrentUser() caller: Caller): object {
    return { id: caller.id };
  }

  @SubscribeMessage('create')
  @Public()
  create(@MessageBody() dto: CreateEventDto): object {
    return dto;
  }

  @UsePipes(new ValidationPipe({ exceptionFactory: (errors) => new WsException(errors) }))
  @SubscribeMessage('piped')
  @Public()
  piped(@MessageBody() dto: CreateEventDto): object {
    return dto;
  }

  @UseGuards(NoGuestsGuard)
  @UseInterceptors(new TransformInterceptor())
  @SubscribeMessage('guarded')
  @Public()
  guarded(): string {
    return 'in';
  }

  @UseFilters(new AllExceptionsFilter())
  @SubscribeMessage('filtered')
  @Public()
  filtered(): never {
    throw new WsException('Invalid credentials.');
  }

  @SubscribeMessage('fails')
  @Public()
  fails(): never {
    throw new Error('A secret of the handler');
  }

  @SubscribeMessage('reads')
  @Public()
  async reads(): Promise<unknown> {
    const [row] = await this.database.query<object[]>('SELECT 1 AS one');
    return row;
  }
}

@WebSocketGateway({ namespace: 'chat', cors })
class ChatGateway {
  @SubscribeMessage('hello')
  @Roles(Role.USER)
  hello(@CurrentUser() caller: Caller): object {
    return { hello: caller.id };
  }
}

@Module({ providers: [EventsGateway, ChatGateway] })
class EventsModule {}

const prepare = (app: INestApplication) => void app.useWebSocketAdapter(new IoAdapter(app));

afterEach(disconnectAll);

describe('A gateway of Socket.IO', () => {
  const api = useTestApi({ imports: [EventsModule], prepare });
  let user: TestUser;
  let admin: TestUser;

  beforeAll(async () => {
    user = await api.user();
    admin = await api.admin();
  });

  const bearer = ({ token }: TestUser) => ({ extraHeaders: { Authorization: `Bearer ${token}` } });

  it.each([['websocket'], ['polling']])('answers its clients as Nest documents it: %s', async (transport) => {
    const client = await connect(api.url, { transports: [transport] });
    const many: unknown[] = [];
    client.on('many', (data) => many.push(data));

    expect(await client.emitWithAck('events', 'a word')).toBe('a word of a client');
    expect(await client.emitWithAck('identity', { id: 5 })).toBe(5);
    expect(await client.emitWithAck('parsed', { id: '5' })).toBe(5);
    expect(await client.emitWithAck('guarded', {})).toEqual({ data: 'in' });
    expect(await client.emitWithAck('create', { name: 'a', count: 1 })).toEqual({ name: 'a', count: 1 });
    expect(await client.emitWithAck('reads', {})).toEqual({ one: 1 });
    client.emit('many');
    await client.emitWithAck('events', '');
    expect(many).toEqual([1, 2, 3]);
  });

  it.each([['websocket'], ['polling']])('has the access that it declares: %s', async (transport) => {
    const transports = [transport];
    const anyone = await connect(api.url, { transports });
    const asUser = await connect(api.url, { transports, ...bearer(user) });
    const asAdmin = await connect(api.url, { transports, ...bearer(admin) });
    const browser = await connect(api.url, { transports, auth: { token: user.token } });
    const inNamespace = await connect(`${api.url}/chat`, { transports, ...bearer(user) });
    const refused = async (client: Client, event: string) => {
      client.emit(event, 'a word');
      return told(client, 'exception');
    };

    expect(await refused(anyone, 'mine')).toMatchObject({ status: 'error', code: 'UNAUTHORIZED' });
    expect(await refused(asUser, 'broadcast')).toMatchObject({ status: 'error', code: 'FORBIDDEN' });
    expect(await asUser.emitWithAck('mine', {})).toEqual({ id: user.id });
    expect(await browser.emitWithAck('mine', {})).toEqual({ id: user.id });
    expect(await inNamespace.emitWithAck('hello', {})).toEqual({ hello: user.id });
    asAdmin.emit('broadcast', 'to all');
    expect(await Promise.all([anyone, asUser].map((client) => told(client, 'news')))).toEqual(['to all', 'to all']);
  });

  it('answers errors as its filters do', async () => {
    const client = await connect(api.url);
    const exceptionOf = async (event: string, data: unknown) => {
      client.emit(event, data);
      return told(client, 'exception');
    };

    expect(await exceptionOf('create', { name: 'a', count: 'x' })).toMatchObject({
      status: 'error',
      code: 'VALIDATION_ERROR',
      fields: [{ field: 'count' }],
    });
    expect(await exceptionOf('create', 'no object')).toMatchObject({ status: 'error', code: 'VALIDATION_ERROR' });
    expect(await exceptionOf('parsed', { id: 'x' })).toMatchObject({ status: 'error', code: 'VALIDATION_ERROR' });
    expect(await exceptionOf('piped', { name: 'a', count: 'x' })).toMatchObject({ status: 'error' });
    expect(await exceptionOf('guarded', { guest: true })).toMatchObject({ status: 'error', message: 'No guests' });
    expect(await exceptionOf('filtered', {})).toMatchObject({ status: 'error', message: 'Invalid credentials.' });
    expect(await exceptionOf('fails', {})).toEqual({
      status: 'error',
      code: 'INTERNAL_ERROR',
      message: 'An internal error occurred',
    });
    expect(api.app.log).toContainEqual(
      expect.objectContaining({ err: expect.objectContaining({ message: 'A secret of the handler' }) }),
    );
  });

  it('has CORS of its own, and leaves the routes what they are', async () => {
    const response = await fetch(`${api.url}/socket.io/?EIO=4&transport=polling`, {
      headers: { Origin: 'https://app.example.com' },
    });

    expect(response.headers.get('access-control-allow-origin')).toBe('https://app.example.com');
    expect(await response.text()).toContain('sid');
    expect((await api.get('/products')).status).toBe(200);
    expect((await api.get('//socket.io-not')).status).toBe(404);
  });
});
