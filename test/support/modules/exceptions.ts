import {
  type ArgumentsHost,
  BadGatewayException,
  BadRequestException,
  Catch,
  ConflictException,
  Controller,
  type ExceptionFilter,
  ForbiddenException,
  GatewayTimeoutException,
  Get,
  GoneException,
  HttpCode,
  HttpException,
  HttpStatus,
  ImATeapotException,
  Module,
  NotFoundException,
  NotImplementedException,
  Param,
  Res,
  UnprocessableEntityException,
  UseFilters,
} from '@nestjs/common';
import { BaseExceptionFilter, HttpAdapterHost } from '@nestjs/core';
import type { Response } from 'express';
import createError from 'http-errors';
import { Answers, ApiError, ApiResource, declareErrors, Public, Raises, ResourceDto } from '../../../src/platform';

export const SECRET = 'correct-horse-battery-staple';
export const NoteErrors = declareErrors({
  NOTE_LOCKED: { status: 423, message: 'The note is locked', headers: { 'Retry-After': '7' } },
  NOTE_BURNT: { status: 410, message: 'The note has burnt' },
});

class ForbiddenNoteException extends HttpException {
  constructor() {
    super('Forbidden', HttpStatus.FORBIDDEN);
  }
}

/** As an HTTP client throws it: another service's status, not ours. */
function clientError(status: number): Error {
  const response = { status, statusCode: status, data: SECRET, headers: { 'www-authenticate': `Basic ${SECRET}` } };
  return Object.assign(new Error(`Request failed with status code ${status} for ${SECRET}`), {
    name: 'AxiosError',
    isAxiosError: true,
    code: 'ERR_BAD_REQUEST',
    status,
    statusCode: status,
    response,
  });
}

const cyclic: { self?: object } = {};
cyclic.self = cyclic;

/** What Nest's documentation and Nest developers throw, and what a client gets to see of it. */
export const exceptions: Record<string, [thrown: () => unknown, code: string, message: string, details?: string]> = {
  '402 with a text': [() => new HttpException('Pay first', 402), 'PAYMENT_REQUIRED', 'Pay first'],
  '410': [() => new GoneException('It was moved'), 'GONE', 'It was moved'],
  '418': [() => new ImATeapotException('Short and stout'), 'IM_A_TEAPOT', 'Short and stout'],
  '422': [() => new UnprocessableEntityException('It is too late'), 'UNPROCESSABLE_ENTITY', 'It is too late'],
  '424': [() => new HttpException('The other one failed', 424), 'FAILED_DEPENDENCY', 'The other one failed'],
  '451': [() => new HttpException('A judge said no', 451), 'UNAVAILABLE_FOR_LEGAL_REASONS', 'A judge said no'],
  '499, which has no name': [() => new HttpException('Never mind', 499), 'HTTP_499', 'Never mind'],
  '501': [() => new NotImplementedException(SECRET), 'NOT_IMPLEMENTED', 'Not Implemented', ''],
  '502': [() => new BadGatewayException(SECRET), 'BAD_GATEWAY', 'Bad Gateway', ''],
  '504': [() => new GatewayTimeoutException(SECRET), 'GATEWAY_TIMEOUT', 'Gateway Timeout', ''],
  '507': [
    () => new HttpException(SECRET, 507),
    'INSUFFICIENT_STORAGE',
    'There is no room to store this, try again later',
    '',
  ],
  'a class of its own': [() => new ForbiddenNoteException(), 'FORBIDDEN', 'Forbidden'],
  'an object, as the documentation has it': [
    () => new HttpException({ status: 403, error: 'This is a custom message' }, 403, { cause: new Error(SECRET) }),
    'FORBIDDEN',
    'This is a custom message',
  ],
  'an object with more to say': [
    () => new ConflictException({ message: 'Taken', seat: '12A', free: ['12B'] }),
    'CONFLICT',
    'Taken',
    'Taken; {"seat":"12A","free":["12B"]}',
  ],
  'a list of messages': [
    () => new NotFoundException(['No chair', 'No table']),
    'NOT_FOUND',
    'Not Found',
    'No chair; No table',
  ],
  'a description': [
    () => new ForbiddenException('Not you', { cause: new Error(SECRET), description: 'A reason' }),
    'FORBIDDEN',
    'Not you',
  ],
  'an object that contains itself': [
    () => new ConflictException(cyclic),
    'CONFLICT',
    'The request conflicts with the current state',
  ],
  'a declared code': [() => new ApiError(NoteErrors.NOTE_LOCKED), 'NOTE_LOCKED', 'The note is locked'],
  'an error of the package http-errors': [() => createError(402, SECRET), 'PAYMENT_REQUIRED', 'Payment Required'],
};

@Controller('exceptions')
@Public()
class ExceptionsController {
  @Get('lists')
  lists(): never {
    throw new BadRequestException(['name must be longer', 'age must be a number']);
  }

  @Get('objects')
  objects(): never {
    throw new BadRequestException({ message: 'No', colour: 'red' });
  }

  @Get('clients/:status')
  client(@Param('status') status: string): never {
    throw clientError(Number(status));
  }

  @Get('returned')
  @HttpCode(409)
  returned(): object {
    return { seat: '12A' };
  }

  @Get('set')
  set(@Res({ passthrough: true }) response: Response): object {
    response.status(404).setHeader('ETag', '"1"');
    return { seat: '12A' };
  }

  @Get('coded')
  coded(): never {
    throw new BadRequestException('Not that seat', { errorCode: 'SEAT_TAKEN' });
  }

  @Get(':name')
  get(@Param('name') name: string): never {
    throw exceptions[name][0]();
  }
}

/** Word for word what https://docs.nestjs.com/exception-filters#catch-everything shows. */
@Catch()
class CatchEverythingFilter implements ExceptionFilter {
  constructor(private readonly httpAdapterHost: HttpAdapterHost) {}

  catch(exception: unknown, host: ArgumentsHost): void {
    const { httpAdapter } = this.httpAdapterHost;
    const ctx = host.switchToHttp();
    const httpStatus = exception instanceof HttpException ? exception.getStatus() : HttpStatus.INTERNAL_SERVER_ERROR;
    const responseBody = {
      statusCode: httpStatus,
      timestamp: new Date().toISOString(),
      path: httpAdapter.getRequestUrl(ctx.getRequest()) as string,
    };
    httpAdapter.reply(ctx.getResponse(), responseBody, httpStatus);
  }
}

@Catch(HttpException)
class TextFilter implements ExceptionFilter {
  constructor(private readonly httpAdapterHost: HttpAdapterHost) {}

  catch(exception: HttpException, host: ArgumentsHost): void {
    const { httpAdapter } = this.httpAdapterHost;
    httpAdapter.reply(host.switchToHttp().getResponse(), '<b>no</b>', exception.getStatus());
  }
}

/** As https://docs.nestjs.com/exception-filters#inheritance shows. */
@Catch()
class InheritedFilter extends BaseExceptionFilter {
  override catch(exception: unknown, host: ArgumentsHost): void {
    super.catch(exception, host);
  }
}

const caught: Record<string, () => unknown> = {
  conflict: () => new ConflictException('Taken'),
  list: () => new BadRequestException(['a', 'b']),
  custom: () => new ConflictException({ seat: '12A' }),
  accident: () => new Error(SECRET),
};

@Controller('caught')
@Public()
class CaughtController {
  @Get('everything/:name')
  @UseFilters(CatchEverythingFilter)
  everything(@Param('name') name: string, @Res({ passthrough: true }) response: Response): never {
    response.setHeader('ETag', '"1"');
    throw caught[name]();
  }

  @Get('text')
  @UseFilters(TextFilter)
  text(): never {
    throw new ConflictException();
  }

  @Get('inherited/:name')
  @UseFilters(InheritedFilter)
  inherited(@Param('name') name: string): never {
    throw caught[name]();
  }
}

class NoteDto extends ResourceDto {}

@ApiResource('Notes')
@Controller('notes')
@Public()
class NotesController {
  /** Reads a note. */
  @Get(':id')
  @Answers(NoteDto)
  @Raises(new ApiError(NoteErrors.NOTE_LOCKED), new HttpException('Pay first', 402))
  get(): NoteDto {
    throw new ApiError(NoteErrors.NOTE_LOCKED);
  }
}

@Module({ controllers: [ExceptionsController, CaughtController, NotesController] })
export class ScratchModule {}
