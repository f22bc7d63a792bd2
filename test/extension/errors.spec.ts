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
import {
  Answers,
  ApiError,
  ApiResource,
  codeOfStatus,
  declareErrors,
  type ErrorCode,
  Public,
  Raises,
  ResourceDto,
} from '../../src/platform';
import { openApiDocument } from '../../src/platform/docs/openapi';
import { expectError, expectErrorEnvelope, expectErrorHeaders } from '../support/expectations';
import { times, useTestApi } from '../support/test-api';

const SECRET = 'correct-horse-battery-staple';
const NoteErrors = declareErrors({
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
const exceptions: Record<string, [thrown: () => unknown, code: string, message: string, details?: string]> = {
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
class ScratchModule {}

describe('An application built on the platform', () => {
  const api = useTestApi({ imports: [ScratchModule] });

  it.each(Object.entries(exceptions))(
    'throws %s, and it leaves with its status, code and message',
    async (name, expected) => {
      const [, code, message, details = message] = expected;
      const answer = await api.get(`/exceptions/${encodeURIComponent(name)}`);
      const { error } = expectErrorEnvelope(answer);

      expect(error).toMatchObject({ code, message, ...(answer.status < 500 && { details }) });
      expect(answer.status).toBe(Number(/^\d+/.exec(name)?.[0] ?? answer.status));
      expect(answer.text).not.toContain(SECRET);
    },
  );

  it('throws any status of an error there is, and none becomes another', async () => {
    // fetch takes a 407 for an answer of a proxy, and fails.
    for (const status of times(200, (index) => 400 + index).filter((one) => one !== 407)) {
      exceptions[`every ${status}`] = [() => new HttpException('a text', status), codeOfStatus(status), ''];
      const answer = await api.get(`/exceptions/${encodeURIComponent(`every ${status}`)}`);
      const { error } = expectErrorEnvelope(answer);

      expect([answer.status, error.code]).toEqual([status, codeOfStatus(status)]);
      // These mean one thing, which nobody has said here.
      expect(error.code).not.toMatch(/IDEMPOTENCY|QUOTA|CHECKSUM|USER_/);
    }
  });

  it('throws a list with 400, and each message is in the details', async () => {
    const lists = expectError(await api.get('/exceptions/lists'), 'VALIDATION_ERROR');
    expect(lists).toMatchObject({ message: 'Bad Request', details: 'name must be longer; age must be a number' });

    const objects = expectError(await api.get('/exceptions/objects'), 'VALIDATION_ERROR');
    expect(objects).toMatchObject({ message: 'No', details: 'No; {"colour":"red"}' });
  });

  it("takes Nest's own option for a code, and the code is what the client reads", async () => {
    const answer = await api.get('/exceptions/coded');

    expect(answer.status).toBe(400);
    const details = 'Not that seat';
    expect(answer.body.error).toEqual({ code: 'SEAT_TAKEN', message: details, details, timestamp: expect.any(String) });
  });

  it.each([400, 401, 403, 404, 409, 422, 429, 500, 503])(
    'lets an error of another service pass, and its status %s is not taken for ours',
    async (status) => {
      const answer = await api.get(`/exceptions/clients/${status}`);

      expectError(answer, 'INTERNAL_ERROR', { secret: SECRET });
      expect(answer.headers.has('www-authenticate')).toBe(false);
    },
  );

  it.each(['conflict', 'list', 'custom', 'accident'])(
    'replies by a filter that catches everything, and %s leaves as the filter put it',
    async (name) => {
      const answer = await api.get(`/caught/everything/${name}`);
      const status = { conflict: 409, list: 400, custom: 409, accident: 500 }[name];

      expect(answer.status).toBe(status);
      expect(answer.body).toEqual({ statusCode: status, timestamp: expect.any(String), path: expect.any(String) });
      expectErrorHeaders(answer);
      expect(answer.headers.has('etag')).toBe(false);
    },
  );

  it('replies a text by a filter, and no browser takes it for a page', async () => {
    const answer = await api.get('/caught/text');

    expect([answer.status, answer.text]).toEqual([409, '<b>no</b>']);
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  });

  it("inherits Nest's own filter, and its default bodies become the envelope", async () => {
    expectError(await api.get('/caught/inherited/accident'), 'INTERNAL_ERROR', { secret: SECRET });
    expect(expectError(await api.get('/caught/inherited/conflict'), 'CONFLICT').message).toBe('Taken');
    const list = expectError(await api.get('/caught/inherited/list'), 'VALIDATION_ERROR');
    expect(list.details).toBe('a; b');
    expect((await api.get('/caught/inherited/custom')).body).toEqual({ seat: '12A' });
  });

  it.each([
    ['returned', 409],
    ['set', 404],
  ])(
    'answers a value with the status of an error (%s), and it is in no envelope of a success',
    async (path, status) => {
      const answer = await api.get(`/exceptions/${path}`);

      expect([answer.status, answer.body]).toEqual([status, { seat: '12A' }]);
      expectErrorHeaders(answer);
    },
  );

  it('declares codes of its own, with their status and headers, and the document knows them', async () => {
    const answer = await api.get('/notes/1');
    expectError(answer, NoteErrors.NOTE_LOCKED);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([423, '7']);

    const { components, paths } = openApiDocument(api.app.nest, 1) as unknown as Record<string, never>;
    const { code } = components['schemas']['Error']['properties']['error']['properties'] as Record<string, never>;
    expect(code['enum']).toEqual(expect.arrayContaining(['NOTE_LOCKED', 'NOTE_BURNT', 'PAYMENT_REQUIRED']));
    expect(code['description']).toContain('`NOTE_LOCKED` (423): The note is locked');
    expect(Object.keys(paths['/api/v1/notes/{id}']['get']['responses'])).toEqual(
      expect.arrayContaining(['402', '423']),
    );
  });

  it.each([
    ['a code that the service has', { CONFLICT: { status: 400, message: 'x' } }, 'CONFLICT is declared already'],
    ['a code that was declared', { NOTE_BURNT: { status: 400, message: 'x' } }, 'NOTE_BURNT is declared already'],
    ['a name that is no code', { 'Not a code': { status: 400, message: 'x' } }, 'is no error code'],
    ['a status of a success', { FINE: { status: 200, message: 'x' } }, 'from 400 to 599'],
  ])('can not declare %s', (_what, kinds, message) => {
    expect(() => declareErrors(kinds as Record<string, { status: number; message: string }>)).toThrow(message);
  });

  it('has the compiler refuse a code that nobody has declared', () => {
    // @ts-expect-error: the type is the check
    const misspelt: ErrorCode = 'NOTE_LOKED';
    expect(misspelt).toBeDefined();
  });
});
