import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { BuiltService } from '../support/built-service';
import { useTestApi } from '../support/test-api';

const MEBIBYTE = 1024 * 1024;
const KILLS = 20;
/** The latest moment of a kill after the service was there again, in milliseconds. */
const LATEST_KILL = 250;
const SIZE = 96 * MEBIBYTE;
/** Slow enough for each kill to hit it. */
const CHUNK = 256 * 1024;
const PAUSE = 5;

describe('An upload, while its service is killed at any moment', () => {
  const api = useTestApi();

  it('loses nothing that was acknowledged, and is whole in the end', async () => {
    const { token } = await api.user();
    const bytes = randomBytes(SIZE);
    const start = () =>
      BuiltService.start({
        DATABASE_URL: api.app.databaseUrl,
        DATA_DIR: process.env.TEST_DIRECTORY!,
        MIN_FREE_DISK: '0',
      });
    let service = await start();
    const headers = { Authorization: `Bearer ${token}`, 'Tus-Resumable': '1.0.0' };
    const created = await fetch(`${service.url}/api/v1/uploads`, {
      method: 'POST',
      headers: { ...headers, 'Upload-Length': String(SIZE) },
    });
    const path = created.headers.get('location')!;
    const offsetNow = async () => {
      const answer = await fetch(service.url + path, { method: 'HEAD', headers });
      return Number(answer.headers.get('upload-offset'));
    };
    async function* from(offset: number) {
      for (let at = offset; at < SIZE; at += CHUNK) {
        yield bytes.subarray(at, Math.min(at + CHUNK, SIZE));
        await sleep(PAUSE);
      }
    }
    const send = (offset: number) =>
      fetch(service.url + path, {
        method: 'PATCH',
        headers: { ...headers, 'Content-Type': 'application/offset+octet-stream', 'Upload-Offset': String(offset) },
        body: Readable.toWeb(Readable.from(from(offset))) as BodyInit,
        duplex: 'half',
      } as RequestInit).catch(() => undefined);

    const offsets = [0];
    for (let kill = 0; kill < KILLS; kill++) {
      const sending = send(offsets.at(-1)!);
      await sleep(50 + Math.random() * LATEST_KILL);
      await service.stop();
      await sending;
      service = await start();
      const offset = await offsetNow();
      // What was acknowledged once stays so.
      expect(offset).toBeGreaterThanOrEqual(offsets.at(-1)!);
      offsets.push(offset);
    }
    const last = await send(offsets.at(-1)!);
    expect(last?.status).toBe(204);

    const { data } = await (await fetch(service.url + path, { headers })).json();
    const content = await fetch(`${service.url}${path}/content`, { headers });
    await expect(content.arrayBuffer().then((body) => sha256(Buffer.from(body)))).resolves.toBe(sha256(bytes));
    await service.stop();
    expect(data).toMatchObject({ status: 'COMPLETE', checksum: sha256(bytes) });
  }, 240_000);
});

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
