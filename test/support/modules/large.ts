import { Controller, Get, Header, Module, Res, StreamableFile } from '@nestjs/common';
import type { Response } from 'express';
import { Public } from '../../../src/platform/auth/access.decorators';

const LARGE = 4 * 1024 * 1024;

@Controller('large')
@Public()
class LargeController {
  private readonly bytes = Buffer.alloc(LARGE, 'x');
  private readonly text = 'x'.repeat(LARGE);

  @Get('text')
  @Header('Content-Type', 'text/plain')
  asText(): string {
    return this.text;
  }

  @Get('sent')
  send(@Res() response: Response): void {
    response.send(this.bytes);
  }

  @Get('ended')
  end(@Res() response: Response): void {
    response.end(this.bytes);
  }

  @Get('written')
  write(@Res() response: Response): void {
    response.write(this.bytes);
    response.end();
  }

  @Get('stream')
  stream(): StreamableFile {
    return new StreamableFile(this.bytes);
  }
}

@Module({ controllers: [LargeController] })
export class LargeModule {}
