import {
  Body,
  Controller,
  DefaultValuePipe,
  Get,
  Headers,
  HttpStatus,
  Module,
  Param,
  ParseArrayPipe,
  ParseBoolPipe,
  ParseDatePipe,
  ParseEnumPipe,
  ParseFloatPipe,
  ParseIntPipe,
  ParseUUIDPipe,
  Post,
  Put,
  Query,
  Req,
  UsePipes,
  ValidationPipe,
} from '@nestjs/common';
import { ApiQuery } from '@nestjs/swagger';
import type { Request } from 'express';
import { Public } from '../../../src/platform';
import {
  Agent,
  CatDto,
  Colour,
  CountedQuery,
  EvenPipe,
  FindCatsQuery,
  FindOneParams,
  GroupedDto,
  Level,
  Page,
  PlainQuery,
  StreetDto,
  Wanted,
} from './cat-dtos';

@Controller('cats')
@Public()
class CatsController {
  @Get()
  find(@Query() query: FindCatsQuery): object {
    const seen = { ...query, tags: [...(query.tags ?? [])], since: query.since?.toISOString() };
    // What a handler does to its query is its own.
    query.tags?.push('x');
    query.since?.setFullYear(1999);
    Object.assign(query, { mine: 1 });
    return seen;
  }

  @Get('plain')
  plain(@Query() query: PlainQuery): object {
    const seen = { ...query, isQuery: query instanceof PlainQuery };
    Object.assign(query, { text: 'changed', mine: 1 });
    return seen;
  }

  @Get('counted')
  counted(@Query() query: CountedQuery): object {
    return query;
  }

  @Get('one')
  one(
    @Query('x') x?: string,
    @Query('page', new DefaultValuePipe(7), ParseIntPipe) page?: number,
    @Query('active', new DefaultValuePipe(false), ParseBoolPipe) active?: boolean,
    @Query('flag', new ParseBoolPipe({ optional: true })) flag?: boolean,
    @Query('ids', new ParseArrayPipe({ items: Number, optional: true })) ids?: number[],
    @Query('rate', new ParseFloatPipe({ optional: true })) rate?: number,
    @Query('n') n?: number,
    @Query('b') b?: boolean,
    @Query('size', new DefaultValuePipe(20)) size?: number,
  ): object {
    return { x, page, active, flag, ids, rate, n, b, size };
  }

  @Get('all')
  all(@Query() query: Record<string, string>): object {
    return { ...query, changeable: Object.isExtensible(query) };
  }

  @Get('levels')
  levels(@Query('level', new ParseEnumPipe(Level)) level: Level): object {
    return { level };
  }

  @Get('headers')
  headers(@Headers('x-one') one: string, @Headers() all: Record<string, string>): object {
    return { one, all: all['x-one'] };
  }

  @Get('requests')
  requests(@Req() request: Request): object {
    return request.query;
  }

  @Get('declared')
  @ApiQuery({ name: 'a', required: false })
  declared(@Req() request: Request): object {
    return request.query;
  }

  @Get('custom')
  @ApiQuery({ name: 'page' })
  @ApiQuery({ name: 'more', required: false })
  custom(
    @Wanted(
      new ValidationPipe({
        validateCustomDecorators: true,
        transform: true,
        forbidNonWhitelisted: true,
        whitelist: true,
      }),
    )
    wanted: Page,
    @Agent('x-agent', new ParseIntPipe({ optional: true })) agent?: number,
  ): object {
    return { ...wanted, agent, isPage: wanted instanceof Page };
  }

  @Get('numbers/:n')
  number(@Param('n') n: number): object {
    return { n, type: typeof n };
  }

  @Get('ints/:count')
  int(@Param('count', ParseIntPipe) count: number): object {
    return { count };
  }

  @Get('strict/:count')
  strict(@Param('count', new ParseIntPipe({ errorHttpStatusCode: HttpStatus.NOT_ACCEPTABLE })) count: number): object {
    return { count };
  }

  @Get('uuids/:uuid')
  uuid(@Param('uuid', new ParseUUIDPipe()) uuid: string): object {
    return { uuid };
  }

  @Get('colours/:colour')
  colour(@Param('colour', new ParseEnumPipe(Colour)) colour: Colour): object {
    return { colour };
  }

  @Get('days/:day')
  day(@Param('day', ParseDatePipe) day: Date): object {
    return { day };
  }

  @Get('even/:even')
  even(@Param('even', EvenPipe) even: number): object {
    return { even };
  }

  @Get('parts/:id/:part')
  part(@Param() params: FindOneParams): object {
    return { ...params, type: typeof params.part };
  }

  @Post()
  create(@Body() cat: CatDto): object {
    return cat;
  }

  @Post('addresses')
  address(@Body('address') address: StreetDto, @Body('note') note: string): object {
    return { address, note };
  }

  @Post('free')
  free(@Body() query: FindCatsQuery): object {
    return query;
  }

  @Post('grouped')
  createGrouped(@Body(new ValidationPipe({ groups: ['create'] })) cat: GroupedDto): object {
    return cat;
  }

  @Put('grouped')
  @UsePipes(new ValidationPipe({ groups: ['update'], transform: true }))
  updateGrouped(@Body() cat: GroupedDto): object {
    return cat;
  }

  @Post('strictest')
  strictest(@Body(new ValidationPipe({ expectedType: CatDto })) cat: object): object {
    return cat;
  }
}

@Module({ controllers: [CatsController] })
export class CatsModule {}
