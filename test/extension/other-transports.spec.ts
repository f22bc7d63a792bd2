import { once } from 'node:events';
import { connect } from 'node:net';
import { Controller, Get, type INestApplication, Module, Body } from '@nestjs/common';
import { Query, Resolver } from '@nestjs/graphql';
import { ClientProxyFactory, EventPattern, MessagePattern, Transport, type ClientProxy } from '@nestjs/microservices';
import { WsAdapter } from '@nestjs/platform-ws';
import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { lastValueFrom } from 'rxjs';
import { WebSocket } from 'ws';
import { Public, Role, Roles } from '../../src/platform';
import { Sessions } from '../../src/platform/accounts';
import { startApp } from '../support/test-app';
import { type TestUser, useTestApi } from '../support/test-api';
import { TransportsModule, events, prepare, servicePort } from '../support/modules/transports';

describe('Handlers that are called otherwise than by a route', () => {
  const api = useTestApi({ imports: [TransportsModule], prepare });
  let user: TestUser;
  let admin: TestUser;

  beforeAll(async () => {
    user = await api.user();
    admin = await api.admin();
  });

  const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
  const errors = () => api.app.log.map(({ err }) => (err as Error)?.message);

  describe('of a gateway', () => {
    const sockets: WebSocket[] = [];

    async function connect(
      headers: Record<string, string> = {},
    ): Promise<(event: string, data?: unknown) => Promise<{ event: string; data: unknown }>> {
      const socket = new WebSocket(api.url.replace('http', 'ws'), { headers });
      sockets.push(socket);
      await once(socket, 'open');
      return async (event, data = {}) => {
        socket.send(JSON.stringify({ event, data }));
        const [message] = (await once(socket, 'message')) as [Buffer];
        return JSON.parse(message.toString()) as { event: string; data: unknown };
      };
    }

    afterAll(() => sockets.forEach((socket) => socket.terminate()));

    it('have the access that they declare, by the token of the handshake', async () => {
      const anyone = await connect();
      const asUser = await connect(bearer(user.token));
      const asAdmin = await connect(bearer(admin.token));
      const exception = (code: string) => ({
        event: 'exception',
        data: expect.objectContaining({ status: 'error', code }),
      });

      expect(await anyone('open')).toEqual({ event: 'open', data: { id: 'nobody' } });
      expect(await anyone('user')).toEqual(exception('UNAUTHORIZED'));
      expect(await asUser('open')).toEqual({ event: 'open', data: { id: String(user.id) } });
      expect(await asUser('user')).toEqual({ event: 'user', data: { id: String(user.id) } });
      expect(await asUser('admin')).toEqual(exception('FORBIDDEN'));
      expect(await asAdmin('admin')).toEqual({ event: 'admin', data: {} });
      expect(await (await connect(bearer('nonsense')))('open')).toEqual(exception('UNAUTHORIZED'));
    });

    it('lose it with the session, on a connection that stays', async () => {
      const leaving = await api.user();
      const ask = await connect(bearer(leaving.token));
      expect((await ask('user')).event).toBe('user');

      await api.delete('/auth/tokens', { refresh_token: leaving.refreshToken });

      expect(await ask('user')).toMatchObject({ event: 'exception', data: { code: 'UNAUTHORIZED' } });
      expect(api.app.nest.get(Sessions)).toBeDefined();
    });

    it('get valid input, and answer errors in the form of gateways', async () => {
      const ask = await connect();

      expect(await ask('sum', { one: 1, label: 'x' })).toEqual({ event: 'sum', data: { one: 1, label: 'x' } });
      expect(await ask('sum', { one: 'x', label: 'x' })).toEqual({
        event: 'exception',
        data: expect.objectContaining({
          status: 'error',
          code: 'VALIDATION_ERROR',
          fields: [expect.objectContaining({ field: 'one' })],
        }),
      });
      const failure = await ask('fail');
      expect(failure).toMatchObject({ event: 'exception', data: { status: 'error', code: 'INTERNAL_ERROR' } });
      expect(JSON.stringify(failure)).not.toContain('secret');
      expect(errors()).toContain('A secret of the handler');
      expect(await ask('exception')).toEqual({ event: 'exception', data: { status: 'error', reason: 'own' } });
    });
  });

  describe('of a microservice that inherits the configuration', () => {
    let client: ClientProxy;
    const send = (cmd: string, data: unknown = {}) => lastValueFrom(client.send<unknown>({ cmd }, data));

    beforeAll(() => {
      client = ClientProxyFactory.create({
        transport: Transport.TCP,
        options: { host: '127.0.0.1', port: servicePort },
      });
    });

    afterAll(() => client.close());

    it('are called without a caller, with valid input, and answer errors in their form', async () => {
      expect(await send('open')).toEqual({ id: 'nobody' });
      expect(await send('sum', { one: 1, label: 'x' })).toEqual({ one: 1, label: 'x' });
      await expect(send('sum', { one: 1, label: 2 })).rejects.toMatchObject({
        status: 'error',
        code: 'VALIDATION_ERROR',
        fields: [expect.objectContaining({ field: 'label' })],
      });
      await expect(send('fail')).rejects.toEqual({
        status: 'error',
        code: 'INTERNAL_ERROR',
        message: 'An internal error occurred',
      });
      await expect(send('exception')).rejects.toEqual({ status: 'error', message: 'own' });
      await lastValueFrom(client.emit('happened', { id: 7 }), { defaultValue: undefined });
      expect(await send('open')).toEqual({ id: 'nobody' });
      expect(events).toEqual([{ id: 7 }]);
    });

    it('are called with null, which services of other languages may send', async () => {
      const message = JSON.stringify({ pattern: { cmd: 'null' }, data: null, id: '1' });
      const socket = connect(servicePort, '127.0.0.1');
      socket.write(`${message.length}#${message}`);
      const [answer] = (await once(socket, 'data')) as [Buffer];
      socket.destroy();

      expect(answer.toString()).toContain('"response":{"payload":null}');
    });
  });

  describe('of a GraphQL schema', () => {
    async function ask(query: string, headers: Record<string, string> = {}) {
      const answer = await fetch(`${api.url}/graphql`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...headers },
        body: JSON.stringify({ query }),
      });
      return (await answer.json()) as { data: unknown; errors?: { message: string; extensions: { code: string } }[] };
    }

    it('have the access that they declare, by the token of the request', async () => {
      expect((await ask('{ openQuery { id } }')).data).toEqual({ openQuery: { id: 'nobody' } });
      expect((await ask('{ userQuery { id } }')).errors).toMatchObject([{ extensions: { code: 'UNAUTHORIZED' } }]);
      const asUser = bearer(user.token);
      expect((await ask('{ userQuery { id } openQuery { id } }', asUser)).data).toEqual({
        userQuery: { id: String(user.id) },
        openQuery: { id: String(user.id) },
      });
      expect((await ask('mutation { adminMutation { id } }', asUser)).errors).toMatchObject([
        { extensions: { code: 'FORBIDDEN' } },
      ]);
      expect((await ask('mutation { adminMutation { id } }', bearer(admin.token))).data).toEqual({
        adminMutation: { id: String(admin.id) },
      });
    });

    it('get valid input, and answer errors in the form of GraphQL', async () => {
      expect((await ask('{ sumQuery(sum: { one: 1, label: "x" }) { id } }')).data).toEqual({ sumQuery: { id: 'x' } });
      expect((await ask('{ sumQuery(sum: { one: 1.5, label: "x" }) { id } }')).errors).toMatchObject([
        { extensions: { code: 'VALIDATION_ERROR', fields: [{ field: 'sum.one' }] } },
      ]);
      const { errors: failures } = await ask('{ failQuery { id } }');
      expect(failures).toMatchObject([
        { message: 'An internal error occurred', extensions: { code: 'INTERNAL_ERROR' } },
      ]);
      expect(JSON.stringify(failures)).not.toContain('secret');
    });
  });
});

describe('The start', () => {
  @WebSocketGateway()
  class ForgetfulGateway {
    @SubscribeMessage('told')
    onTold(): void {}
  }
  @Controller()
  class ForgetfulMessagesController {
    @MessagePattern({ cmd: 'told' })
    onTold(): void {}

    @Get('declared')
    @Public()
    declared(): void {}
  }
  @Resolver()
  class ForgetfulResolver {
    @Query(() => String)
    told(): string {
      return '';
    }
  }
  @Controller()
  class RoleOfMessageController {
    @EventPattern('told')
    @Roles(Role.ADMIN)
    onTold(@Body() _body: object): void {}
  }

  it('is refused by a gateway, a message or a resolver that declares no access', async () => {
    @Module({ controllers: [ForgetfulMessagesController], providers: [ForgetfulGateway, ForgetfulResolver] })
    class ForgetfulModule {}
    const prepare = (app: INestApplication) => void app.useWebSocketAdapter(new WsAdapter(app));
    const start = startApp({ imports: [ForgetfulModule], prepare }).then((app) => app.stop());

    await expect(start).rejects.toThrow(
      new RegExp(
        [
          'message "told" \\(ForgetfulGateway.onTold\\)',
          'GraphQL Query \\(ForgetfulResolver.told\\)',
          'pattern \\{"cmd":"told"\\} \\(ForgetfulMessagesController.onTold\\)',
        ].join('[^]*'),
      ),
    );
  });

  it('is refused by a message of another service that asks for a role', async () => {
    @Module({ controllers: [RoleOfMessageController] })
    class RoleModule {}

    await expect(startApp({ imports: [RoleModule] })).rejects.toThrow(/pattern "told" \(RoleOfMessageController/);
  });
});
