import { Readable } from 'node:stream';
import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { Controller, Get, Header, Module, Post, Query, StreamableFile } from '@nestjs/common';
import { Public } from '../../../src/platform/auth/access.decorators';
import { times } from '../../../src/platform/testing';

const PIECE = 64 * 1024;
/** Several times what the system keeps for a connection whose client doesn't read. */
export const LONG = 256 * PIECE;

/** How many of its handlers are at work, and how many have been at most. */
export const work = { now: 0, most: 0, done: 0, gate: Promise.resolve() };

@Controller('turns')
class WorkController {
  @Get()
  @Public()
  async work(@Query() { fields }: { fields?: string }): Promise<object> {
    work.most = Math.max(work.most, ++work.now);
    await work.gate;
    await turnOfTheLoop();
    work.now--;
    work.done++;
    return { fields };
  }

  @Post()
  @Public()
  write(): object {
    work.done++;
    return {};
  }

  /** More than a connection takes at once, as its source has it: whoever sends it waits for the client to read. */
  @Get('stream')
  @Public()
  @Header('Content-Length', String(LONG))
  stream(): StreamableFile {
    return new StreamableFile(Readable.from(times(LONG / PIECE, () => Buffer.alloc(PIECE))));
  }
}

@Module({ controllers: [WorkController] })
export class WorkModule {}
