import { Readable } from 'node:stream';
import {
  type ArgumentsHost,
  BadRequestException,
  Body,
  type CallHandler,
  Catch,
  ConflictException,
  Controller,
  type ExceptionFilter,
  type ExecutionContext,
  Get,
  HttpException,
  HttpStatus,
  Injectable,
  type MiddlewareConsumer,
  Module,
  type NestInterceptor,
  type NestModule,
  NotFoundException,
  Param,
  ParseIntPipe,
  Post,
  Res,
  StreamableFile,
  UseFilters,
  UseInterceptors,
} from '@nestjs/common';
import { APP_FILTER, BaseExceptionFilter, HttpAdapterHost } from '@nestjs/core';
import { Length } from 'class-validator';
import type { NextFunction, Request, Response } from 'express';
import { catchError, of, throwError } from 'rxjs';
import { EntityManager, EntityNotFoundError, QueryFailedError } from 'typeorm';
import { ApiError, Public, readRow, StaleVersionError } from '../../../src/platform';
import { User } from '../../../src/resources/users/user.entity';

/** Word for word what https://docs.nestjs.com/exception-filters#catch-everything shows, and how it is bound for all. */
@Catch()
export class CatchEverythingFilter implements ExceptionFilter {
  constructor(private readonly httpAdapterHost: HttpAdapterHost) {}

  catch(exception: unknown, host: ArgumentsHost): void {
    const { httpAdapter } = this.httpAdapterHost;
    const ctx = host.switchToHttp();
    const httpStatus = exception instanceof HttpException ? exception.getStatus() : HttpStatus.INTERNAL_SERVER_ERROR;
    const responseBody = { statusCode: httpStatus, path: httpAdapter.getRequestUrl(ctx.getRequest()) as string };
    httpAdapter.reply(ctx.getResponse(), responseBody, httpStatus);
  }
}

@Catch()
class InheritedFilter extends BaseExceptionFilter {
  override catch(exception: unknown, host: ArgumentsHost): void {
    super.catch(exception, host);
  }
}

/** As https://docs.nestjs.com/exception-filters#exception-filters-1 shows, with what the exception itself answers. */
@Catch(HttpException)
class HttpExceptionFilter implements ExceptionFilter {
  catch(exception: HttpException, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<Response>();
    const status = exception.getStatus();
    response.status(status).json({ by: 'http', text: exception.message, answer: exception.getResponse() });
  }
}

@Catch(NotFoundException, BadRequestException, ConflictException)
class NamedFilter implements ExceptionFilter {
  catch(exception: HttpException, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<Response>();
    response.status(exception.getStatus()).json({ by: exception.message, answer: exception.getResponse() });
  }
}

@Catch(NotFoundException)
class RethrowingFilter extends BaseExceptionFilter {
  override catch(exception: NotFoundException, host: ArgumentsHost): void {
    super.catch(exception, host);
  }
}

/** As applications with TypeORM have it. */
@Catch(EntityNotFoundError, QueryFailedError)
class DatabaseFilter implements ExceptionFilter {
  catch(exception: Error, host: ArgumentsHost): void {
    host.switchToHttp().getResponse<Response>().status(418).json({ by: exception.constructor.name });
  }
}

/** As https://docs.nestjs.com/interceptors#exception-mapping shows. */
@Injectable()
class MappingInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler) {
    return next
      .handle()
      .pipe(
        catchError((error: unknown) =>
          error instanceof BadRequestException ? of({ status: error.getStatus() }) : throwError(() => error),
        ),
      );
  }
}

/** More than a connection takes at once. */
export const LARGE = 'x'.repeat(16 * 1024 * 1024);

/** Fails in the midst of the answer of its handler, which is none of its business. */
async function failLate(_request: Request, response: Response, next: NextFunction): Promise<void> {
  const write = response.write.bind(response) as (...args: unknown[]) => boolean;
  const begun = new Promise<void>((resolve) => {
    response.write = (...args: unknown[]) => {
      resolve();
      return write(...args);
    };
  });
  next();
  await begun;
  throw new Error('by accident');
}

class NameDto {
  @Length(3, 20)
  name: string;
}

const thrown: Record<string, (manager: EntityManager) => unknown> = {
  row: (manager) => readRow(manager, User, 2_000_000_000),
  'row of TypeORM': (manager) => manager.findOneByOrFail(User, { id: 2_000_000_000 }),
  version: () => Promise.reject(new StaleVersionError(2)),
  duplicate: (manager) => manager.query('DO $$ BEGIN RAISE unique_violation; END $$'),
  constraint: (manager) => manager.query('DO $$ BEGIN RAISE check_violation; END $$'),
  cancelled: (manager) => manager.query('DO $$ BEGIN RAISE query_canceled; END $$'),
  code: () => Promise.reject(new ApiError('LOCKED')),
  accident: () => Promise.reject(new Error('by accident')),
};

export const STATUSES = Object.entries({
  row: 404,
  'row of TypeORM': 404,
  version: 412,
  duplicate: 409,
  constraint: 400,
  cancelled: 503,
  code: 423,
  accident: 500,
});

class Routes {
  constructor(readonly manager: EntityManager) {}

  @Post('names')
  create(@Body() body: NameDto): object {
    return body;
  }

  @Get('thrown/:name')
  thrown(@Param('name') name: string): unknown {
    return thrown[name](this.manager);
  }
}

@Controller('plain')
@Public()
class PlainController extends Routes {
  constructor(manager: EntityManager) {
    super(manager);
  }

  @Post('mapped')
  @UseInterceptors(MappingInterceptor)
  mapped(@Body() body: NameDto): object {
    return body;
  }

  @Get('bad')
  bad(): never {
    throw new BadRequestException('Something bad happened');
  }

  @Get('nameless')
  nameless(): never {
    throw new HttpException({}, 400);
  }

  @Get('numbers/:number')
  number(@Param('number', ParseIntPipe) number: number): object {
    return { number };
  }

  @Get('half')
  half(@Res() response: Response): never {
    response.write('the first half');
    throw new Error('by accident');
  }

  @Get('half/later')
  async later(@Res() response: Response): Promise<never> {
    await new Promise<void>((resolve) => void response.write('the first half', () => resolve()));
    throw new BadRequestException();
  }

  @Get('large/text')
  text(): string {
    return LARGE;
  }

  @Get('large/file')
  file(): StreamableFile {
    return new StreamableFile(Readable.from([Buffer.from(LARGE), Buffer.from('x')]));
  }

  @Get('whole')
  whole(@Res() response: Response): never {
    response.json({ whole: true });
    throw new Error('by accident');
  }
}

@Controller('http')
@Public()
@UseFilters(HttpExceptionFilter)
class HttpController extends Routes {
  constructor(manager: EntityManager) {
    super(manager);
  }
}

@Controller('named')
@Public()
@UseFilters(NamedFilter)
class NamedController extends Routes {
  constructor(manager: EntityManager) {
    super(manager);
  }
}

@Controller('rethrown')
@Public()
@UseFilters(RethrowingFilter)
class RethrownController extends Routes {
  constructor(manager: EntityManager) {
    super(manager);
  }
}

@Controller('database')
@Public()
@UseFilters(CatchEverythingFilter, DatabaseFilter)
class DatabaseController extends Routes {
  constructor(manager: EntityManager) {
    super(manager);
  }
}

const controllers = [PlainController, HttpController, NamedController, RethrownController, DatabaseController];

@Module({ controllers })
export class ScratchModule implements NestModule {
  configure(consumer: MiddlewareConsumer): void {
    consumer.apply(failLate).forRoutes('plain/large/*splat');
  }
}

@Module({ controllers, providers: [{ provide: APP_FILTER, useClass: InheritedFilter }] })
export class InheritingModule {}
