import { pipeline } from 'node:stream/promises';
import { Writable } from 'node:stream';
import {
  Body,
  Controller,
  type INestApplication,
  Module,
  Post,
  Req,
  UploadedFile,
  UseInterceptors,
} from '@nestjs/common';
import { FileInterceptor } from '@nestjs/platform-express';
import { Allow } from 'class-validator';
import type { Request, Response } from 'express';
import { BodyLimit, mebibytes, Public, TakesNoKey, TakesUpTo } from '../../src/platform';
import { RawConnection, times, waitFor } from '../../src/platform/testing';
import { followed } from '../../src/platform/transactions/place';
import { useTestApi } from '../support/test-api';

/** What each client sends of the body that it announces. */
const SENT = 1_000_000;
const ANNOUNCED = 1_048_576;
/** As many bodies as one address may have on their way at once. */
const BODIES = 8;
const ADDRESSES = ['198.18.0.1', '198.18.1.1'];

class TextDto {
  @Allow()
  text: string;
}

@Public()
@BodyLimit(mebibytes(1))
@Controller('texts')
class TextsController {
  @Post()
  @TakesNoKey('a test')
  take(@Body() { text }: TextDto) {
    return { length: text.length };
  }

  @Post('soon')
  @TakesNoKey('a test')
  @TakesUpTo(1_000)
  takeSoon(@Body() { text }: TextDto) {
    return { length: text.length };
  }

  @Post('streamed')
  @TakesNoKey('a test')
  async stream(@Req() request: Request) {
    const sink = new Writable({ write: (_chunk, _encoding, done) => done() });
    await pipeline(request, sink);
  }

  @Post('form')
  @TakesNoKey('a test')
  @UseInterceptors(FileInterceptor('file'))
  form(@UploadedFile() file: { size: number }) {
    return { size: file.size };
  }
}

@Module({ controllers: [TextsController] })
class TextsModule {}

/** Requests that are under way, for what answers them before their bodies have come. */
const begun: Response[] = [];
const prepare = (app: INestApplication) =>
  void app.use((_request: Request, response: Response, next: () => void) => {
    begun.push(response);
    next();
  });

interface Aborted {
  path?: string;
  type?: string;
  chunked?: boolean;
  /** What becomes of a request whose body has come but for its end. */
  abort: (connection: RawConnection, response: Response) => unknown;
}

const fin = (connection: RawConnection) => connection.end().closed();
const answerEarly = (response: Response) => response.status(418).json({});

const FORM = 'multipart/form-data; boundary=line';
const FORM_HEAD = '--line\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n';

const KINDS: [string, Aborted][] = [
  ['ends its connection', { abort: fin }],
  ['resets its connection', { abort: (connection) => connection.reset() }],
  ['sends a malformed chunk', { chunked: true, abort: (connection) => connection.write('\r\nzz\r\n').closed() }],
  ['is answered by the time limit', { path: '/soon', abort: (connection) => connection.answer() }],
  ['is answered before by other code', { abort: (_connection, response) => answerEarly(response) }],
  [
    'is answered before by other code and ends its connection',
    {
      abort: (connection, response) => {
        answerEarly(response);
        return fin(connection);
      },
    },
  ],
  ['ends its connection while a handler streams the body', { path: '/streamed', type: 'text/plain', abort: fin }],
  ['ends its connection while Multer reads the body', { path: '/form', type: FORM, abort: fin }],
];

describe('A body that is not there whole when its client', () => {
  const api = useTestApi({
    imports: [TextsModule],
    prepare,
    settings: { API_DOCS: 'false', TRUST_PROXY: '1', REQUEST_TIMEOUT: '20000' },
  });

  const head = (address: string, { path = '', type = 'application/json', chunked }: Aborted) =>
    `POST /api/v1/texts${path} HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: ${address}\r\nContent-Type: ${type}\r\n` +
    (chunked ? `Transfer-Encoding: chunked\r\n\r\n${SENT.toString(16)}\r\n` : `Content-Length: ${ANNOUNCED}\r\n\r\n`);

  /** Resolves when all that was sent has come. */
  async function send(address: string, kind: Aborted): Promise<[RawConnection, Response]> {
    const connection = await RawConnection.open(api.app.port);
    const before = begun.length;
    const start = kind.type === FORM ? FORM_HEAD : '"';
    connection.write(head(address, kind)).write(start + 'a'.repeat(SENT - start.length));
    await waitFor(() => begun.length > before);
    const response = begun.at(-1)!;
    const { socket } = response.req;
    await waitFor(() => socket.bytesRead > SENT);
    return [connection, response];
  }

  it.each(KINDS)('%s takes no room afterwards, and its request is over', async (_name, kind) => {
    for (const address of ADDRESSES) {
      for (let round = 0; round < 2; round++) {
        const sent: [RawConnection, Response][] = [];
        for (let body = 0; body < BODIES - 1; body++) sent.push(await send(address, kind));
        await Promise.all(sent.map(([connection, response]) => kind.abort(connection, response)));
        // Node follows every promise until no request is left.
        await waitFor(() => followed() === 0, 15_000);
        for (const [connection] of sent) connection.destroy();
      }
    }

    const text = 'a'.repeat(SENT);
    const others = times(4, (index) => `198.19.${index}.1`);
    for (const address of [...ADDRESSES, ...others]) {
      const answer = await api.with({ 'X-Forwarded-For': address }).post('/texts', { text });
      expect([address, answer.status]).toEqual([address, 201]);
    }
    expect(api.app.log.filter(({ err }) => err)).toEqual([]);
  });

  it('keeps it back takes no room from its neighbours', async () => {
    const address = '198.18.9.1';
    const kind = { abort: fin };
    const sent: [RawConnection, Response][] = [];
    while (sent.length < BODIES) sent.push(await send(address, kind));
    const text = 'a'.repeat(SENT);
    const from = (client: string) => api.with({ 'X-Forwarded-For': client }).post('/texts', { text });

    expect(await from(address)).toMatchObject({ status: 503 });
    expect(await from('198.18.9.2')).toMatchObject({ status: 201 });
    for (const [connection] of sent) connection.destroy();
    await waitFor(() => followed() === 0);
    expect(await from(address)).toMatchObject({ status: 201 });
  });
});
