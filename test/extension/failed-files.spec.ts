import { createReadStream } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { Controller, Get, Header, HttpCode, Module, Param, StreamableFile } from '@nestjs/common';
import { Public } from '../../src/platform';
import { expectError } from '../../src/platform/testing';
import { useTestApi } from '../support/test-api';

const SECRET = 'the name of a folder';
const OPTIONS = { type: 'text/csv', disposition: 'attachment; filename="all.csv"', length: 100 };

const told: string[] = [];

/** Reads nothing, and fails. */
const failing = () => new Readable({ read: (_size) => undefined }).destroy(new Error(SECRET));

@Controller('files')
@Public()
class FilesController {
  directory = '';

  @Get('named/:name')
  named(@Param('name') name: string): StreamableFile {
    return new StreamableFile(createReadStream(join(this.directory, name)), { type: 'text/csv' });
  }

  @Get('failing')
  @Header('Cache-Control', 'max-age=60')
  failing(): StreamableFile {
    const stream = Readable.from(
      (async function* lines() {
        await setImmediate();
        if (SECRET) throw new Error(SECRET);
        yield '';
      })(),
    );
    return new StreamableFile(stream, OPTIONS);
  }

  @Get('failed')
  async failed(): Promise<StreamableFile> {
    const file = new StreamableFile(failing(), OPTIONS);
    await setImmediate();
    return file;
  }

  @Get('answered')
  answered(): StreamableFile {
    return new StreamableFile(failing(), OPTIONS).setErrorHandler((_error, response) => {
      response.statusCode = 418;
      response.send('gone fishing');
    });
  }

  @Get('logged')
  logged(): StreamableFile {
    return new StreamableFile(failing(), OPTIONS).setErrorLogger(({ message }) => void told.push(message));
  }

  @Get('generated')
  @HttpCode(200)
  async *generated(): AsyncGenerator<string> {
    await setImmediate();
    if (SECRET) throw new Error(SECRET);
    yield '';
  }
}

@Module({ controllers: [FilesController] })
class FilesModule {}

describe('A file that fails before its first byte', () => {
  let directory: string;
  const api = useTestApi({
    imports: [FilesModule],
    prepare: async (app) => {
      directory = await mkdtemp(join(tmpdir(), 'files-'));
      await writeFile(join(directory, 'there'), 'a,b\n');
      app.get(FilesController).directory = directory;
    },
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  it.each(['named/missing', 'failing', 'failed', 'generated'])('is 500 in the error envelope: %s', async (path) => {
    const answer = await api.get(`/files/${path}`);

    expectError(answer, 'INTERNAL_ERROR', { secret: SECRET });
    expect(answer.headers.has('content-disposition')).toBe(false);
    expect(answer.text).not.toContain(directory);
    const id = answer.headers.get('x-request-id');
    const lines = api.app.log.filter(({ request_id }) => request_id === id);
    expect(lines).toContainEqual(expect.objectContaining({ context: 'Error', err: expect.anything() }));
  });

  it('is 500 without a body for HEAD', async () => {
    expect(await api.head('/files/named/missing')).toMatchObject({ status: 500, text: '' });
  });

  it('is answered by the error handler that its developer has set', async () => {
    expect(await api.get('/files/answered')).toMatchObject({ status: 418, text: 'gone fishing' });
  });

  it('is told to the error logger that its developer has set', async () => {
    expectError(await api.get('/files/logged'), 'INTERNAL_ERROR', { secret: SECRET });
    expect(told).toEqual([SECRET]);
  });

  it('leaves other files as they are', async () => {
    expect(await api.get('/files/named/there')).toMatchObject({ status: 200, text: 'a,b\n' });
  });
});
