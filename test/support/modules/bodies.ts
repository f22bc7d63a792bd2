import { createHmac } from 'node:crypto';
import {
  Body,
  type CanActivate,
  Controller,
  type ExecutionContext,
  Get,
  Injectable,
  Module,
  MaxFileSizeValidator,
  ParseArrayPipe,
  ParseFilePipe,
  Post,
  Put,
  RawBody,
  type RawBodyRequest,
  Req,
  UnauthorizedException,
  UploadedFile,
  UploadedFiles,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import {
  AnyFilesInterceptor,
  FileFieldsInterceptor,
  FileInterceptor,
  FilesInterceptor,
  NoFilesInterceptor,
} from '@nestjs/platform-express';
import { ApiConsumes } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsInt, IsString, Length } from 'class-validator';
import { type Request } from 'express';
import { BodyLimit, Creates, ListOf, mebibytes, Public, Role, Roles, Text, Whole } from '../../../src/platform';
import { RequiredFilesController } from './required-files';

const SECRET = 'a secret of two services';
export const FORM = 'application/x-www-form-urlencoded';

/** A file, of which the tests look at little. */
interface File {
  originalname: string;
  size: number;
}

export class ThingDto {
  @IsString()
  @Length(2, 10)
  title: string;

  @IsInt()
  @Type(() => Number)
  count: number;
}

class LineDto {
  @Text({ max: 10 })
  label: string;

  @Whole()
  amount: number;
}

class InvoiceDto {
  @ListOf(() => LineDto, { min: 1, max: 1_000 })
  lines: LineDto[];
}

export const sign = (bytes: Uint8Array | string): string => createHmac('sha256', SECRET).update(bytes).digest('hex');

@Injectable()
class SignatureGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<RawBodyRequest<Request>>();
    if (request.rawBody && request.get('X-Signature') === sign(request.rawBody)) return true;
    throw new UnauthorizedException();
  }
}

@Controller('bodies')
@Public()
class BodiesController {
  @Post('things')
  thing(@Body() thing: ThingDto): object {
    return thing;
  }

  @Post('lists')
  list(@Body(new ParseArrayPipe({ items: ThingDto })) things: ThingDto[]): object {
    return { things, areThings: things.every((thing) => thing instanceof ThingDto) };
  }

  @Post('loose-lists')
  looseList(@Body(new ParseArrayPipe({ items: ThingDto, whitelist: true })) things: ThingDto[]): object {
    return { things };
  }

  @Post('numbers')
  numbers(@Body(new ParseArrayPipe({ items: Number })) numbers: number[]): object {
    return { numbers };
  }

  @Post('any')
  any(@Body() body: unknown): object {
    return { body };
  }

  @Post('forms')
  @ApiConsumes(FORM)
  form(@Body() thing: ThingDto): object {
    return thing;
  }

  @Post('both')
  @ApiConsumes('application/json', FORM)
  both(@Body() thing: ThingDto): object {
    return thing;
  }

  @Post('texts')
  @ApiConsumes('text/plain', 'application/xml')
  text(@Body() text: string): object {
    return { text };
  }

  @Post('bytes')
  @ApiConsumes('application/pdf')
  bytes(@Body() bytes: Buffer): object {
    return { length: bytes.length, isBuffer: Buffer.isBuffer(bytes) };
  }

  @Post('files')
  @UseInterceptors(FileInterceptor('file'))
  file(@UploadedFile() file: File, @Body() thing: ThingDto): object {
    return { ...thing, isThing: thing instanceof ThingDto, file: file.originalname, size: file.size };
  }

  /** As the documentation of Nest has it, for one file and for several. */
  @Post('small-files')
  @UseInterceptors(FileInterceptor('picture'))
  smallFile(@UploadedFile(new ParseFilePipe({ validators: [new MaxFileSizeValidator({ maxSize: 2 })] })) file: File) {
    return { size: file.size };
  }

  @Post('several-small-files')
  @UseInterceptors(AnyFilesInterceptor())
  severalSmallFiles(
    @UploadedFiles(new ParseFilePipe({ validators: [new MaxFileSizeValidator({ maxSize: 2 })] })) files: File[],
  ): object {
    return { sizes: files.map(({ size }) => size) };
  }

  @Post('large-files')
  @BodyLimit(mebibytes(3))
  @UseInterceptors(FileInterceptor('file'))
  largeFile(@UploadedFile() file: File): object {
    return { size: file.size };
  }

  @Post('several-files')
  @UseInterceptors(FilesInterceptor('files', 3))
  severalFiles(@UploadedFiles() files: File[], @Body() thing: ThingDto): object {
    return { ...thing, files: files.map(({ originalname }) => originalname) };
  }

  @Post('named-files')
  @UseInterceptors(FileFieldsInterceptor([{ name: 'one' }, { name: 'two' }]))
  namedFiles(@UploadedFiles() files: Record<string, File[]>, @Body() thing: ThingDto): object {
    return { ...thing, files: Object.keys(files).sort() };
  }

  @Post('any-files')
  @UseInterceptors(AnyFilesInterceptor())
  anyFiles(@UploadedFiles() files: File[], @Body() thing: ThingDto): object {
    return { ...thing, files: files.map(({ originalname }) => originalname) };
  }

  @Post('no-files')
  @UseInterceptors(NoFilesInterceptor())
  noFiles(@Body() thing: ThingDto): object {
    return thing;
  }

  @Post('documented-files')
  @ApiConsumes('multipart/form-data')
  @UseInterceptors(FileInterceptor('file'))
  documentedFile(@UploadedFile() file: File, @Body() thing: ThingDto): object {
    return { ...thing, size: file.size };
  }

  @Put('streamed-files')
  @ApiConsumes('multipart/form-data')
  async streamedFile(@Req() request: Request): Promise<object> {
    let size = 0;
    for await (const chunk of request) size += (chunk as Buffer).length;
    return { size };
  }

  @Post('keyed-files')
  @UseInterceptors(FileInterceptor('file'))
  @Creates(ThingDto)
  keyedFile(@Body() thing: ThingDto): object {
    return { id: 1, ...thing };
  }

  @Post('admin-files')
  @Roles(Role.ADMIN)
  @UseInterceptors(FileInterceptor('file'))
  adminFile(@Body() thing: ThingDto): object {
    return thing;
  }

  @Post('signed')
  @UseGuards(SignatureGuard)
  signed(@Body() thing: ThingDto): object {
    return thing;
  }

  @Post('raw')
  raw(@Req() request: RawBodyRequest<Request>): object {
    const { rawBody, body } = request;
    return { raw: rawBody?.toString(), body: body as object };
  }

  @Post('raw-parameters')
  rawParameter(@RawBody() raw: Buffer, @Body() thing: ThingDto): object {
    return { raw: raw.toString(), ...thing };
  }

  @Put('streams')
  @ApiConsumes('application/octet-stream')
  async stream(@Req() request: Request): Promise<object> {
    let size = 0;
    for await (const chunk of request) size += (chunk as Buffer).length;
    return { size };
  }

  @Post('invoices')
  @BodyLimit(mebibytes(2), { values: 5_000 })
  invoice(@Body() invoice: InvoiceDto): object {
    return { lines: invoice.lines.length };
  }

  @Get('nothing')
  nothing(@Req() request: Request): object {
    return { body: (request.body as unknown) === undefined };
  }
}

@Module({ controllers: [RequiredFilesController, BodiesController] })
export class BodiesModule {}

export const thing = { title: 'thing', count: 2 };
export const asForm = (values: Record<string, unknown>) =>
  new URLSearchParams(values as Record<string, string>).toString();

export function multipart(values: Record<string, unknown>, files: Record<string, string> = {}): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(values)) form.append(name, String(value));
  for (const [name, content] of Object.entries(files)) form.append(name, new Blob([content]), `${name}.txt`);
  return form;
}
