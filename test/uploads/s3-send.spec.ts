import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { type Sending, send } from '../../src/uploads/bytes/s3-send';
import { Spool } from '../../src/uploads/bytes/spool';

/** More than a connection takes without being read. */
const LENGTH = 16 * 1024 * 1024;

describe('A part on its way into a bucket', () => {
  let spool: Spool;
  let sent: Sending[];

  beforeEach(async () => {
    sent = [];
    spool = await Spool.open(tmpdir());
    await spool.write(Buffer.alloc(LENGTH));
  });
  afterEach(() => spool.close().catch(() => undefined));

  /** As the SDK sends it: by `pipe()`, to the answer. */
  const put = (url: string) => (sending: Sending) => {
    sent.push(sending);
    return new Promise<void>((resolve, reject) => {
      const { body, abortSignal } = sending;
      const headers = { 'Content-Length': body.ContentLength };
      const sends = request(url, { method: 'PUT', headers, signal: abortSignal }, ({ statusCode }) =>
        statusCode === 200 ? resolve() : reject(new Error(`Status ${statusCode}`)),
      );
      sends.on('error', reject);
      body.Body.pipe(sends);
    });
  };

  it('fails when the disk fails, and nothing else does', async () => {
    await spool.close();
    await expect(send(spool, ({ body }) => new Promise(() => body.Body.resume()))).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      cause: { message: 'file closed' },
    });
  });

  it('is read no further when the bucket refuses it before it has come', async () => {
    const refusing = createServer((_request, response) => response.writeHead(403).flushHeaders());
    await new Promise<void>((resolve) => refusing.listen(0, '127.0.0.1', resolve));
    const { port } = refusing.address() as AddressInfo;
    await expect(send(spool, put(`http://127.0.0.1:${port}`))).rejects.toMatchObject({
      cause: { message: 'Status 403' },
    });
    await spool.close();
    // A bucket that reads the rest makes the SDK go on.
    refusing.closeAllConnections();
    refusing.close();
    for (const { body } of sent) if (!body.Body.closed) await once(body.Body, 'close');

    expect(sent.map(({ body, abortSignal }) => [body.Body.destroyed, abortSignal.aborted])).toEqual(
      sent.map(() => [true, true]),
    );
    expect(sent).not.toEqual([]);
  });

  it('is complete after the bucket has taken it', async () => {
    let length = 0;
    const taking = createServer((incoming, response) => {
      incoming.on('data', (bytes: Buffer) => (length += bytes.length));
      incoming.on('end', () => response.end());
    });
    await new Promise<void>((resolve) => taking.listen(0, '127.0.0.1', resolve));
    const { port } = taking.address() as AddressInfo;
    await send(spool, put(`http://127.0.0.1:${port}`));
    taking.closeAllConnections();
    taking.close();

    expect([length, sent[0].abortSignal.aborted]).toEqual([LENGTH, false]);
  });
});
