import { once } from 'node:events';
import type { Server } from 'node:http';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { Controller, Get, Module, Sse, StreamableFile } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { finalize, interval, map, type Observable, take, timer } from 'rxjs';
import { DataSource } from 'typeorm';
import { Produces, Public } from '../../src/platform';
import { RawConnection, waitFor } from '../../src/platform/testing';
import { startApp } from '../support/test-app';

/** Longer than the grace of what never ends. */
const SLOW = 4_000;
const PIECES = 8;
/** Milliseconds between two events; several times the limit of a request in their test. */
const RARE = 4_000;
const LIMIT = 1_000;

let slowHasBegun = false;
let unsubscribed = 0;

@Controller('streams')
@Public()
class StreamsController {
  constructor(@InjectDataSource() private readonly database: DataSource) {}

  @Sse('events')
  @Produces('text/event-stream')
  events(): Observable<{ data: string }> {
    return interval(50).pipe(
      map((count) => ({ data: String(count) })),
      finalize(() => unsubscribed++),
    );
  }

  @Sse('rare-events')
  @Produces('text/event-stream')
  rareEvents(): Observable<{ data: string }> {
    return timer(0, RARE).pipe(
      take(2),
      map((count) => ({ data: String(count) })),
    );
  }

  @Get('export')
  @Produces('text/csv')
  export(): StreamableFile {
    async function* lines() {
      for (let piece = 0; piece < PIECES; piece++) {
        await sleep(SLOW / PIECES);
        yield `${piece}\n`;
      }
    }
    return new StreamableFile(Readable.from(lines()), { type: 'text/csv' });
  }

  @Get('leak')
  async leak(): Promise<object> {
    await (this.database.driver as unknown as { obtainMasterConnection(): Promise<unknown> }).obtainMasterConnection();
    return {};
  }

  @Get('slow')
  async slow(): Promise<object> {
    slowHasBegun = true;
    await sleep(SLOW);
    return { slow: true };
  }
}

@Module({ controllers: [StreamsController] })
class StreamsModule {}

describe('Server-sent events', () => {
  it('may be rare, as a client that has read all of them is only waiting', async () => {
    const app = await startApp({ imports: [StreamsModule], settings: { REQUEST_TIMEOUT: String(LIMIT) } });
    const answer = await fetch(`http://127.0.0.1:${app.port}/api/v1/streams/rare-events`);

    // The second event comes long after the limit.
    expect((await answer.text()).match(/^data: .*$/gm)).toEqual(['data: 0', 'data: 1']);
    await app.stop();
  });
});

describe('A stop', () => {
  it('ends server-sent events after a moment, and lets everything else finish', async () => {
    const app = await startApp({ imports: [StreamsModule] });
    const ask = (path: string) => fetch(`http://127.0.0.1:${app.port}/api/v1/streams/${path}`);
    const events = await ask('events');
    const reader = events.body!.getReader();
    await reader.read();
    const ended: string[] = [];
    const textOf = async (path: string, answer: Promise<Response>) => {
      const text = await (await answer).text();
      ended.push(path);
      return text;
    };
    // Its headers have arrived, so it has begun.
    const exported = await ask('export');
    const others = [textOf('slow', ask('slow')), textOf('export', Promise.resolve(exported))];
    await waitFor(() => slowHasBegun);

    const start = performance.now();
    const stopped = app.nest.close();
    let text = '';
    for (let part = await reader.read(); !part.done; part = await reader.read())
      text += Buffer.from(part.value).toString();
    ended.push('events');
    const [slow, csv] = await Promise.all(others);
    await stopped;

    expect(text).toContain('data: ');
    expect(ended[0]).toBe('events');
    expect(JSON.parse(slow)).toMatchObject({ data: { slow: true } });
    expect(csv).toBe(Array.from({ length: PIECES }, (_, piece) => `${piece}\n`).join(''));
    // REQUEST_TIMEOUT is 30 s.
    expect(performance.now() - start).toBeLessThan(20_000);
    expect(unsubscribed).toBe(1);
    await app.stop();
  });

  it('ends, and says why it took so long, when a handler has never given its connection back', async () => {
    const app = await startApp({ imports: [StreamsModule] });
    const answer = await fetch(`http://127.0.0.1:${app.port}/api/v1/streams/leak`);
    await app.stop();

    expect(answer.status).toBe(200);
    expect(app.log.map(({ msg }) => msg)).toContainEqual(expect.stringContaining('never given back'));
  });

  it('ends a connection that another protocol has taken over, when the time of a request is up', async () => {
    const app = await startApp({ settings: { REQUEST_TIMEOUT: '300' } });
    const server = app.nest.getHttpServer() as Server;
    const upgraded = once(server, 'upgrade');
    const connection = await RawConnection.open(app.port);
    connection.write('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
    await upgraded;

    await app.stop();
    await connection.closed();
  });
});
