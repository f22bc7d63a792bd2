import { Controller, type INestApplication, Module, Sse } from '@nestjs/common';
import { IoAdapter } from '@nestjs/platform-socket.io';
import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { interval, map, type Observable } from 'rxjs';
import { Public } from '../../src/platform';
import { RawConnection } from '../../src/platform/testing';
import { connect, disconnectAll, told } from '../support/socket-io';
import { startApp } from '../support/test-app';

@WebSocketGateway()
class EventsGateway {
  @SubscribeMessage('events')
  @Public()
  onEvent(): string {
    return 'an event';
  }
}

@WebSocketGateway({ namespace: 'forgetful' })
class ForgetfulGateway {
  @SubscribeMessage('told')
  onTold(): void {}
}

@Controller('ticks')
class TicksController {
  @Sse()
  @Public()
  ticks(): Observable<object> {
    return interval(50).pipe(map((data) => ({ data })));
  }
}

@Module({ providers: [EventsGateway], controllers: [TicksController] })
class EventsModule {}

@Module({ providers: [ForgetfulGateway] })
class ForgetfulModule {}

const prepare = (app: INestApplication) => void app.useWebSocketAdapter(new IoAdapter(app));

afterEach(disconnectAll);

describe('The stop of a service with gateways of Socket.IO', () => {
  it.each([['websocket'], ['polling']])(
    'disconnects their clients, and waits neither for event streams nor for idle connections: %s',
    async (transport) => {
      const app = await startApp({ imports: [EventsModule], prepare });
      const url = `http://127.0.0.1:${app.port}`;
      const client = await connect(url, { transports: [transport] });
      const silent = await RawConnection.open(app.port);
      const events = await fetch(`${url}/api/v1/ticks`);
      const disconnected = told(client, 'disconnect');
      expect(await client.emitWithAck('events')).toBe('an event');

      const start = performance.now();
      const text = events.text();
      await app.nest.close();

      // REQUEST_TIMEOUT is 30 s.
      expect(performance.now() - start).toBeLessThan(20_000);
      expect(await disconnected).toMatch(/transport (close|error)/);
      expect(await text).toContain('data: ');
      await silent.closed();
      await app.stop();
    },
  );
});

describe('The start of a service with gateways of Socket.IO', () => {
  it('is refused by one that declares no access', async () => {
    const start = startApp({ imports: [ForgetfulModule], prepare }).then((app) => app.stop());

    await expect(start).rejects.toThrow(/message "told" \(ForgetfulGateway.onTold\)/);
  });
});
