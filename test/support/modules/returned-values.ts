import {
  Body,
  type CallHandler,
  Controller,
  type ExecutionContext,
  Get,
  Header,
  HttpCode,
  Injectable,
  Module,
  type NestInterceptor,
  Param,
  Post,
  Redirect,
  Res,
  Sse,
  StreamableFile,
  UseInterceptors,
} from '@nestjs/common';
import type { Response } from 'express';
import { from, map, type Observable, of } from 'rxjs';
import { Creates, Idempotent, Produces, Public, ResourceDto, Verbatim } from '../../../src/platform';
import { ProducedType } from '../../../src/platform/features';

class Point {
  constructor(
    readonly x: number,
    private readonly y: number,
  ) {}

  toJSON(): object {
    return { x: this.x, y: this.y };
  }
}

const POINT = { x: 1, y: 2 };

class Secret {
  readonly #text = 'x';

  get length(): number {
    return this.#text.length;
  }
}

class Told extends Map<string, number> {
  toJSON(): object {
    return Object.fromEntries(this);
  }
}

function* numbers(): Generator<number> {
  yield 1;
}

export async function* lines(): AsyncGenerator<object> {
  yield await Promise.resolve({ line: 1 });
  yield { line: 2 };
}

const cyclic: { self?: object } = {};
cyclic.self = cyclic;

/** What a handler may return, and the `data` of the envelope. */
export const values: Record<string, [value: () => unknown, data: unknown]> = {
  'a number': [() => 5, 5],
  zero: [() => 0, 0],
  true: [() => true, true],
  false: [() => false, false],
  null: [() => null, null],
  'a list': [() => [1, 'a', null], [1, 'a', null]],
  'an empty list': [() => [], []],
  'a date': [() => new Date(0), '1970-01-01T00:00:00.000Z'],
  'an instance of a class': [() => new Point(1, 2), { x: 1, y: 2 }],
  'an Observable': [() => of({ a: 1 }), { a: 1 }],
  'an Observable of several values': [() => from([1, 2, 3]), 3],
  'a promise': [() => Promise.resolve(7), 7],
  'an object with empty ones': [() => ({ a: {}, b: '{}', c: [{}] }), { a: {}, b: '{}', c: [{}] }],
  'an object with an instance without public properties': [() => ({ a: new Secret() }), { a: {} }],
  'an object with an instance that has a JSON of its own': [() => ({ a: new Point(1, 2), b: {} }), { a: POINT, b: {} }],
  'an object with a Buffer': [() => ({ a: Buffer.from('a') }), { a: { type: 'Buffer', data: [97] } }],
  'an object with a Map that has a JSON of its own': [() => ({ a: new Told([['a', 1]]) }), { a: { a: 1 } }],
  'an object with data and other attributes': [
    () => ({ data: [], pagination: 'none' }),
    { data: [], pagination: 'none' },
  ],
};

/** What JSON has no form for, and what the log tells to return instead. */
export const oddities: Record<string, [value: () => unknown, way: string]> = {
  'a bigint': [() => 5n, 'return a number or a text'],
  'an object with a bigint': [
    () => ({ a: [0, 5n] }),
    'a bigint, which JSON does not have, in data.a.1; return a number',
  ],
  'an object that holds itself': [() => cyclic, 'return numbers and texts'],
  'a Map': [() => new Map([['a', 1]]), 'return Object.fromEntries(map)'],
  'an object with a Map': [() => ({ a: { b: new Map() } }), 'in data.a.b; return Object.fromEntries(map)'],
  'a list with a Set': [() => [{}, { tags: new Set([1]) }], 'in data.1.tags; return Array.from() of it'],
  'an object with a typed array': [() => ({ a: new Uint8Array(3) }), 'in data.a; return Buffer.from(bytes).toString('],
  'an object with an empty typed array': [() => ({ a: new Uint8Array() }), 'in data.a; return Buffer.from(bytes)'],
  'an object with a promise': [() => ({ a: Promise.resolve(1) }), 'in data.a; return what it resolves to'],
  'an object with an error': [() => ({ a: new Error('x') }), 'in data.a; return its message'],
  'an object with an iterator': [() => ({ a: [1].values() }), 'in data.a; return Array.from() of it'],
  'an object whose JSON has a Map': [() => ({ a: { toJSON: () => ({ b: new Map() }) } }), 'in data.a.b; return Object'],
  'a Set': [() => new Set([1]), 'return Array.from() of it'],
  'a generator': [() => numbers(), 'return Array.from() of it'],
  'a Buffer': [() => Buffer.from('abc'), 'return new StreamableFile(bytes)'],
  'a typed array': [() => new Uint8Array(3), 'return new StreamableFile(bytes)'],
  'a function': [() => numbers, 'return what it stands for'],
  'an error': [() => new Error('x'), 'throw it'],
};

@Controller('values')
@Public()
class ValuesController {
  @Get('text')
  text(): string {
    return '<b>text</b>';
  }

  @Get('empty-text')
  emptyText(): string {
    return '';
  }

  @Get('typed')
  @Header('Content-Type', 'text/html; charset=utf-8')
  @Header('Content-Security-Policy', "default-src 'self'")
  typed(): string {
    return '<b>page</b>';
  }

  @Get('nothing')
  nothing(): void {}

  @Get('lines')
  lines(): AsyncGenerator<object> {
    return lines();
  }

  @Get('verbatim')
  verbatim(): Verbatim {
    return new Verbatim({ own: 'form' });
  }

  @Get('file')
  @Header('Content-Disposition', 'attachment; filename="a.txt"')
  file(): StreamableFile {
    return new StreamableFile(Buffer.from('abc'), { type: 'text/plain' });
  }

  @Sse('events')
  events(): unknown {
    return of({ data: { hello: 'world' } });
  }

  @Get('moved')
  @Redirect('/api/v1/products', 301)
  moved(): void {}

  @Get('by-hand')
  byHand(@Res() response: Response): void {
    response.status(202).json({ html: '<b>' });
  }

  @Get('formatted')
  formatted(@Res() response: Response): void {
    response.format({ 'text/plain': () => response.send('hey'), 'text/html': () => response.send('<p>hey</p>') });
  }

  @Get('csv')
  @Header('Content-Type', 'text/csv; charset=utf-8')
  csv(): string {
    return 'a,b\n';
  }

  @Get('passed-through')
  @HttpCode(203)
  @Header('X-Own', 'header')
  passed(@Res({ passthrough: true }) response: Response): object {
    response.cookie('a', 'b', { httpOnly: true });
    return { a: 1 };
  }

  @Get('either')
  @Produces('application/json', 'text/csv')
  either(@ProducedType() type: string): unknown {
    return type === 'text/csv' ? 'a,b\n1,2\n' : [{ a: 1, b: 2 }];
  }

  @Get('odd/:name')
  odd(@Param('name') name: string): unknown {
    return oddities[name][0]();
  }

  @Get('status/:code')
  status(@Param('code') code: string, @Res({ passthrough: true }) response: Response): unknown {
    response.status(Number(code));
    return null;
  }

  @Get('text-with/:code')
  textWith(@Param('code') code: string, @Res({ passthrough: true }) response: Response): string {
    response.status(Number(code));
    return 'a text';
  }

  @Get(':name')
  get(@Param('name') name: string): unknown {
    return values[name][0]();
  }

  @Post(':name')
  @Idempotent()
  post(@Param('name') name: string): unknown {
    return name in values ? values[name][0]() : name === 'nothing' ? undefined : 'a text';
  }
}

export class ThingDto extends ResourceDto {}

/** Plain Nest, where nothing says what is created. */
@Controller()
@Public()
export class ActionsController {
  @Post('pay')
  pay(): object {
    return { id: 77 };
  }

  @Post('things/:id/approve')
  approve(@Param('id') id: string): object {
    return { id: Number(id) };
  }

  @Post('things/import')
  import(): object[] {
    return [{ id: 1 }];
  }

  @Post('things')
  create(@Body() body: { id: string | number }): object {
    return body;
  }

  @Post('things/:id/copies')
  @HttpCode(200)
  copy(): object {
    return { id: 9 };
  }

  @Get('things/:id')
  get(@Param('id') id: string): object {
    return { id };
  }

  @Post('things/:id/parts')
  @Creates(ThingDto)
  createPart(): object {
    return { id: 5 };
  }

  @Get('things/:id/parts/:part')
  getPart(@Param('part') id: string): object {
    return { id };
  }
}

/** As Nest's documentation has it. */
@Injectable()
class TransformInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(map((data: unknown) => ({ data })));
  }
}

@Controller('wrapped')
@Public()
@UseInterceptors(TransformInterceptor)
class WrappedController {
  @Get()
  list(): object[] {
    return [];
  }

  @Get(':id')
  get(@Param('id') id: string): object {
    return { id };
  }

  @Post()
  create(): object {
    return { id: 1 };
  }
}

@Module({ controllers: [ValuesController, ActionsController, WrappedController] })
export class ValuesModule {}
