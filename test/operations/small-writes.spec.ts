import { once } from 'node:events';
import { connect } from 'node:net';
import { Controller, Get, Module, Res } from '@nestjs/common';
import type { Response } from 'express';
import { Public } from '../../src/platform';
import { useTestApi } from '../support/test-api';

/** Bytes of a write, which are few. */
const SMALL = 16 * 1024;
/** More than one network may leave unread. */
const WRITES = 16 * 1024;

let written = 0;

@Controller('drips')
@Public()
class DripsController {
  /** Asks nobody whether what it has written is read. */
  @Get()
  drip(@Res() response: Response): void {
    const drop = Buffer.alloc(SMALL, 'x');
    for (written = 0; written < WRITES && !response.destroyed; written++) response.write(drop);
    response.end();
  }

  @Get('few')
  few(@Res() response: Response): void {
    for (let index = 0; index < 64; index++) response.write(Buffer.alloc(SMALL, 'x'));
    response.end();
  }
}

@Module({ controllers: [DripsController] })
class DripsModule {}

describe('An answer in many small writes', () => {
  const api = useTestApi({ imports: [DripsModule] });

  it('ends where nobody reads it, before it fills the memory', async () => {
    const client = connect(api.app.port, '127.0.0.1').pause();
    client.on('error', () => undefined);
    await once(client, 'connect');
    client.write('GET /api/v1/drips HTTP/1.1\r\nHost: x\r\n\r\n');
    client.resume();
    await once(client, 'close');

    expect(written).toBeGreaterThan(1_000);
    expect(written).toBeLessThan(WRITES / 2);
  });

  it('comes whole to who reads it', async () => {
    for (let round = 0; round < 50; round++) {
      const { status, text } = await api.get('/drips/few');
      expect([status, text.length]).toEqual([200, 64 * SMALL]);
    }
  });
});
