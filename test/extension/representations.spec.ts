import {
  type ArgumentsHost,
  Body,
  type CallHandler,
  Catch,
  Controller,
  type ExceptionFilter,
  type ExecutionContext,
  Get,
  Header,
  HttpException,
  Module,
  type NestInterceptor,
  ParseArrayPipe,
  Post,
  Res,
  StreamableFile,
  UseFilters,
  UseInterceptors,
} from '@nestjs/common';
import { ApiConsumes, ApiProperty } from '@nestjs/swagger';
import { IsInt, IsString } from 'class-validator';
import type { Response } from 'express';
import { map } from 'rxjs';
import { Idempotent, Public } from '../../src/platform';
import { useTestApi } from '../support/test-api';
import { fromXml, XML, XML_TYPE } from '../support/xml';

class StickerDto {
  @ApiProperty()
  @IsString()
  text: string;

  @IsInt()
  count: number;
}

class Marks implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler) {
    return next.handle().pipe(map((value: object) => ({ ...value, marked: true })));
  }
}

@Catch(HttpException)
class OwnBodies implements ExceptionFilter {
  catch(thrown: HttpException, host: ArgumentsHost): void {
    host
      .switchToHttp()
      .getResponse<Response>()
      .status(thrown.getStatus())
      .json({ oops: [1] });
  }
}

const OWN_XML = '<?xml version="1.0"?><own/>';

@Controller('stickers')
@Public()
class StickersController {
  @Get('header')
  @Header('Content-Type', 'application/xml')
  ownXml(): string {
    return OWN_XML;
  }

  @Get('json')
  @Header('Content-Type', 'application/feed+json')
  ownJson(): object {
    return { a: 1 };
  }

  @Get('file')
  file(): StreamableFile {
    return new StreamableFile(Buffer.from('bytes'), { type: 'image/png' });
  }

  @Get('text')
  text(): string {
    return '{"a":1}';
  }

  @Get('sent')
  sent(@Res() response: Response): void {
    response.json({ a: 1 });
  }

  @Post('kept')
  @Idempotent()
  @UseInterceptors(Marks)
  kept(@Body() body: StickerDto): object {
    return { ...body };
  }

  @Post('kept/xml')
  @Idempotent()
  @Header('Content-Type', 'application/xml')
  keptXml(): string {
    return OWN_XML;
  }

  @Post('parts')
  parts(@Body('text') text: string, @Body('count') count: number): object {
    return { text, count };
  }

  @Post('lists')
  lists(@Body(new ParseArrayPipe({ items: StickerDto })) stickers: StickerDto[]): object {
    return stickers;
  }

  @Post('bytes')
  @ApiConsumes('application/xml')
  bytes(@Body() body: Buffer): object {
    return { length: body.length };
  }

  @Get('filtered')
  @UseFilters(OwnBodies)
  filtered(): never {
    throw new HttpException('no', 409);
  }
}

@Module({ controllers: [StickersController] })
class StickersModule {}

describe('XML beside what Nest’s documentation shows', () => {
  const api = useTestApi({ imports: [StickersModule] });
  const get = (path: string) => api.get(`/stickers/${path}`, { Accept: 'application/xml' });
  const dataOf = ({ text }: { text: string }) => fromXml(text).data;

  it.each([
    ['header', 'application/xml', OWN_XML],
    ['json', 'application/feed+json', expect.stringMatching(/^\{"code":200/)],
    ['file', 'image/png', 'bytes'],
    ['text', 'text/plain', '{"a":1}'],
    ['sent', 'application/json', '{"a":1}'],
  ])('leaves alone what a route sends by itself: %s', async (path, type, text) => {
    const answer = await get(path);
    expect([answer.status, answer.headers.get('content-type')?.split(';')[0], answer.text]).toEqual([200, type, text]);
  });

  it('is made after interceptors, which get the same value of a repetition', async () => {
    const sticker = '<sticker><text>1</text><count>2</count></sticker>';
    const key = { ...XML, 'Idempotency-Key': 'sticker' };
    const first = await api.post('/stickers/kept', sticker, key);
    const again = await api.post('/stickers/kept', sticker, key);

    expect(dataOf(first)).toEqual({ text: '1', count: 2, marked: true });
    expect([again.text, again.headers.get('content-type')]).toEqual([first.text, XML_TYPE]);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
  });

  it('is kept for a key as a route’s own text', async () => {
    const key = { ...XML, 'Idempotency-Key': 'own' };
    const sent = [
      await api.post('/stickers/kept/xml', undefined, key),
      await api.post('/stickers/kept/xml', undefined, key),
    ];
    expect(sent.map(({ text }) => text)).toEqual([OWN_XML, OWN_XML]);
  });

  it('is taken for parts of a body, and for lists', async () => {
    const sticker = '<text>1</text><count>2</count>';
    const parts = await api.post('/stickers/parts', '<s><text>1</text><count>2</count></s>', XML);
    const list = await api.post('/stickers/lists', `<s><item>${sticker}</item></s>`, XML);

    expect(dataOf(parts)).toEqual({ text: '1', count: 2 });
    expect(dataOf(list)).toEqual([{ text: '1', count: 2 }]);
  });

  it('reaches a handler of XML as bytes', async () => {
    expect(dataOf(await api.post('/stickers/bytes', OWN_XML, XML))).toEqual({ length: OWN_XML.length });
  });

  it('is not made of what an exception filter writes by itself', async () => {
    const { status, headers, text } = await get('filtered');
    expect([status, headers.get('content-type')?.split(';')[0]]).toEqual([409, 'application/json']);
    expect(text).toBe('{"oops":[1]}');
  });
});
