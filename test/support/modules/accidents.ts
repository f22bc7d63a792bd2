import {
  BadRequestException,
  Body,
  ConflictException,
  Controller,
  Get,
  HttpException,
  InternalServerErrorException,
  Module,
  NotFoundException,
  Param,
  Post,
  Res,
  ServiceUnavailableException,
  UnauthorizedException,
} from '@nestjs/common';
import type { Response } from 'express';
import { DataSource } from 'typeorm';
import { Public, Roles } from '../../../src/platform/auth/access.decorators';
import { Role } from '../../../src/platform/auth/caller';
import { ApiError } from '../../../src/platform/errors/api-error';
import { IdParam } from '../../../src/platform/input/id.pipe';
import { Text } from '../../../src/platform/input/attributes';

export const SECRET = 'correct-horse-battery-staple';

/** What a handler may throw or return that no client should get to see. */
export const accidents: Record<string, () => unknown> = {
  'a string': () => raise(SECRET),
  null: () => raise(null),
  undefined: () => raise(undefined),
  'a number': () => raise(404),
  'an object': () => raise({ status: 404, message: SECRET, statusCode: 418 }),
  'a frozen object': () => raise(Object.freeze({ secret: SECRET })),
  'an object without a prototype': () => raise(Object.create(null)),
  'a function': () => raise(() => SECRET),
  'a symbol': () => raise(Symbol(SECRET)),
  'an Error': () => raise(new Error(SECRET)),
  'an Error with the status of a client error out of range': () =>
    raise(Object.assign(new Error(SECRET), { status: 99 })),
  'an Error with the status of a server error': () => raise(Object.assign(new Error(SECRET), { status: 502 })),
  'an address that cannot be decoded': () => decodeURIComponent('%'),
  'an HttpException with no status of an error': () => raise(new HttpException(SECRET, 200)),
  'an HttpException with no status at all': () => raise(new HttpException(SECRET, Number.NaN)),
  'an HttpException of the server': () => raise(new InternalServerErrorException(SECRET)),
  'a rejected promise': () => Promise.reject(new Error(SECRET)),
  'a rejection without a reason': () => Promise.resolve().then(() => raise(undefined)),
  'an endless recursion': () => recurse(),
  'a text that can be no part of a URL': () => encodeURIComponent('\ud800'),
  'a part of a URL that is no text': () => decodeURIComponent('%'),
  'an answer that is no JSON': () => ({ amount: 1n }),
  'an answer that contains itself': () => cycle(),
};

/** What a developer may throw on purpose, and the code that it becomes. */
export const intended: Record<string, () => Error> = {
  NOT_FOUND: () => new NotFoundException('There is no such thing'),
  CONFLICT: () => new ConflictException('It is there already'),
  UNAUTHORIZED: () => new UnauthorizedException('Who are you?'),
  VALIDATION_ERROR: () => new BadRequestException('It makes no sense'),
  SERVICE_UNAVAILABLE: () => new ServiceUnavailableException('Out for lunch'),
  PRECONDITION_FAILED: () => new ApiError('PRECONDITION_FAILED'),
};

class NoteDto {
  @Text({ min: 1, max: 20 })
  text: string;
}

@Controller('accidents')
@Public()
class AccidentsController {
  @Get(':name')
  get(@Param('name') name: string): unknown {
    return accidents[name]();
  }
}

@Controller('failures')
@Public()
class FailuresController {
  constructor(private readonly database: DataSource) {}

  @Get('prepared')
  prepare(@Res({ passthrough: true }) response: Response): never {
    response.setHeader('ETag', '"1"').setHeader('Location', '/nowhere').setHeader('Link', '</>; rel="first"');
    response.setHeader('Content-Type', 'text/plain').status(201);
    throw new ConflictException();
  }

  @Get('sql/:state')
  sql(@Param('state') state: string): Promise<unknown> {
    return this.database.query(`DO $$ BEGIN RAISE 'about ${SECRET}' USING ERRCODE = '${state}'; END $$`);
  }

  @Get(':code')
  get(@Param('code') code: string): never {
    throw intended[code]();
  }
}

@Controller('notes')
@Roles(Role.ADMIN)
class NotesController {
  @Post(':id')
  create(@IdParam() id: number, @Body() note: NoteDto): object {
    return { id, ...note };
  }
}

@Module({ controllers: [AccidentsController, FailuresController, NotesController] })
export class ErrorsModule {}

export function raise(thrown: unknown): never {
  throw thrown;
}

function recurse(): unknown {
  return [recurse()];
}

function cycle(): object {
  const node: { self?: object } = {};
  node.self = node;
  return node;
}
