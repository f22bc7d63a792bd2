import { Body, Controller, Get, Module, ParseArrayPipe, Patch, Post, Put, Query } from '@nestjs/common';
import { IntersectionType, OmitType, PartialType, PickType } from '@nestjs/swagger';
import { IsOptional } from 'class-validator';
import {
  ApiExampleBody,
  attribute,
  Idempotent,
  ListOf,
  OneOf,
  Public,
  SomeOf,
  Text,
  Verbatim,
  Whole,
} from '../../src/platform';
import { expectError } from '../../src/platform/testing';
import { useTestApi } from '../support/test-api';

enum Colour {
  RED = 'RED',
  BLUE = 'BLUE',
}

class LineDto {
  @Text({ max: 10 })
  label: string;

  @Whole({ default: 1 })
  quantity: number;
}

class BasketDto {
  @Text({ max: 10 })
  name: string;

  @Text({ max: 10, nullable: true, default: null })
  note: string | null;

  @Whole({ default: 5 })
  size: number;

  @SomeOf(Colour, { default: [Colour.RED] })
  colours: Colour[];

  @attribute(
    { name: 'type', message: 'must be true or false', holds: (value) => typeof value === 'boolean' },
    [],
    {},
    {
      default: false,
    },
  )
  closed: boolean;

  @ListOf(() => LineDto, { min: 0, max: 3, default: [] })
  lines: LineDto[];

  @Text({ max: 10, nullable: true, optional: true })
  hint?: string | null;
}

const NOTHING_SAID = { note: null, size: 5, colours: ['RED'], closed: false, lines: [] };

class PatchBasketDto extends PartialType(BasketDto, { skipNullProperties: false }) {}
class LoosePatchDto extends PartialType(BasketDto) {}
class PatchOfPartDto extends PartialType(PickType(BasketDto, ['size'])) {}
class PickedDto extends PickType(BasketDto, ['name', 'size']) {}
class OmittedDto extends OmitType(BasketDto, ['size']) {}
class BothDto extends IntersectionType(PickedDto, LineDto) {}

class OtherSizeDto extends BasketDto {
  @Whole({ default: 7 })
  override size: number;
}

class OwnPatchDto extends PatchBasketDto {
  @Whole({ default: 9 })
  override size?: number;
}

class LeftOutDto extends PickType(BasketDto, ['name', 'size']) {
  @IsOptional()
  override size: number;
}

/** Not a default of the service's attributes, but what TypeScript sets in a constructor. */
class InitialisedDto {
  @Whole()
  size = 5;
}

class PatchInitialisedDto extends PartialType(InitialisedDto) {}

class FindDto {
  @OneOf(Colour, { default: Colour.RED })
  colour: Colour;
}

const echo = (value: unknown): Verbatim => new Verbatim(value as object);

@Controller('baskets')
@Public()
class BasketsController {
  @Get()
  find(@Query() query: FindDto): object {
    return echo(query);
  }

  @Post()
  create(@Body() input: BasketDto): object {
    return echo(input);
  }

  @Put()
  replace(@Body() input: BasketDto): object {
    return echo(input);
  }

  @Patch()
  update(@Body() changes: PatchBasketDto): object {
    return echo(changes);
  }

  @Patch('loose')
  updateLoosely(@Body() changes: LoosePatchDto): object {
    return echo(changes);
  }

  @Patch('part')
  updatePart(@Body() changes: PatchOfPartDto): object {
    return echo(changes);
  }

  @Patch('own')
  updateOwn(@Body() changes: OwnPatchDto): object {
    return echo(changes);
  }

  @Post('picked')
  picked(@Body() input: PickedDto): object {
    return echo(input);
  }

  @Post('omitted')
  omitted(@Body() input: OmittedDto): object {
    return echo(input);
  }

  @Post('both')
  both(@Body() input: BothDto): object {
    return echo(input);
  }

  @Post('other-size')
  otherSize(@Body() input: OtherSizeDto): object {
    return echo(input);
  }

  @Post('left-out')
  leftOut(@Body() input: LeftOutDto): object {
    return echo(input);
  }

  @Patch('initialised')
  updateInitialised(@Body() changes: PatchInitialisedDto): object {
    return echo(changes);
  }

  @Post('lists')
  list(@Body(new ParseArrayPipe({ items: PickedDto })) inputs: PickedDto[]): object {
    return echo(inputs);
  }

  @Post('parts')
  @ApiExampleBody({ basket: { name: 'a' } })
  part(@Body('basket') input: PickedDto): object {
    return echo(input);
  }

  @Post('changed')
  changed(@Body() input: BasketDto): object {
    input.colours.push(Colour.BLUE);
    return echo(input);
  }

  @Post('keyed')
  @Idempotent()
  keyed(@Body() input: PickedDto): object {
    return echo(input);
  }
}

@Module({ controllers: [BasketsController] })
class BasketsModule {}

describe('A default that a DTO declares', () => {
  const api = useTestApi({ imports: [BasketsModule] });
  const posted = async (path: string, body: object) => (await api.post(`/baskets${path}`, body)).body as unknown;
  const patched = async (path: string, body: object) => (await api.patch(`/baskets${path}`, body)).body as unknown;

  it('is what the handler of a POST or PUT gets for an attribute that was left out', async () => {
    expect(await posted('', { name: 'a' })).toEqual({ name: 'a', ...NOTHING_SAID });
    expect((await api.put('/baskets', { name: 'a' })).body).toEqual({ name: 'a', ...NOTHING_SAID });
  });

  it('leaves alone what was sent', async () => {
    const sent = { name: 'a', note: 'b', size: 0, colours: ['BLUE'], closed: true, lines: [], hint: null };

    expect(await posted('', sent)).toEqual(sent);
  });

  it('is no value for null, which is refused where it was refused before', async () => {
    const answer = await api.post('/baskets', { name: 'a', note: null, size: null });

    expectError(answer, 'VALIDATION_ERROR', { fields: { size: 'type' } });
  });

  it.each(['', '/loose', '/part'])('is nothing to a PATCH (%s)', async (path) => {
    expect(await patched(path, {})).toEqual({});
    expect(await patched(path, { size: 1 })).toEqual({ size: 1 });
  });

  it('is one of a PATCH whose own class declares it', async () => {
    expect(await patched('/own', {})).toEqual({ size: 9 });
  });

  it("is no field that is initialised, which Nest's PartialType takes along", async () => {
    expect(await patched('/initialised', {})).toEqual({ size: 5 });
  });

  it('comes along with PickType, OmitType and IntersectionType', async () => {
    expect(await posted('/picked', { name: 'a' })).toEqual({ name: 'a', size: 5 });
    expect(await posted('/omitted', { name: 'a' })).toEqual({ name: 'a', ...NOTHING_SAID, size: undefined });
    expect(await posted('/both', { name: 'a', label: 'b' })).toEqual({ name: 'a', label: 'b', size: 5, quantity: 1 });
  });

  it('is replaced by a subclass, and taken away by another reason to leave the attribute out', async () => {
    expect(await posted('/other-size', { name: 'a' })).toEqual({ name: 'a', ...NOTHING_SAID, size: 7 });
    expect(await posted('/left-out', { name: 'a' })).toEqual({ name: 'a' });
  });

  it('holds for objects within the body', async () => {
    const lines = [{ label: 'a' }, { label: 'b', quantity: 3 }];

    expect(await posted('', { name: 'a', lines })).toMatchObject({ lines: [{ label: 'a', quantity: 1 }, lines[1]] });
  });

  it('holds for lists of objects, and for a part of a body', async () => {
    expect(await posted('/lists', [{ name: 'a' }, { name: 'b', size: 1 }])).toEqual([
      { name: 'a', size: 5 },
      { name: 'b', size: 1 },
    ]);
    expect(await posted('/parts', { basket: { name: 'a' } })).toEqual({ name: 'a', size: 5 });
  });

  it('holds for a query, asked for the first time or again', async () => {
    expect((await api.get('/baskets')).body).toEqual({ colour: 'RED' });
    expect((await api.get('/baskets')).body).toEqual({ colour: 'RED' });
    expect((await api.get('/baskets?colour=BLUE')).body).toEqual({ colour: 'BLUE' });
  });

  it('belongs to one request, whatever its handler does to it', async () => {
    expect(await posted('/changed', { name: 'a' })).toMatchObject({ colours: ['RED', 'BLUE'] });
    expect(await posted('/changed', { name: 'a' })).toMatchObject({ colours: ['RED', 'BLUE'] });
  });

  it('does not make two bodies one for an idempotency key', async () => {
    const key = { 'Idempotency-Key': 'a-key-of-the-defaults' };
    const answer = await api.post('/baskets/keyed', { name: 'a' }, key);

    expect(answer.body).toEqual({ name: 'a', size: 5 });
    expect((await api.post('/baskets/keyed', { name: 'a' }, key)).text).toBe(answer.text);
    expectError(await api.post('/baskets/keyed', { name: 'a', size: 5 }, key), 'IDEMPOTENCY_KEY_REUSED');
  });
});
