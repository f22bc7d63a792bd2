import { Body, Controller, Module, Patch, Post } from '@nestjs/common';
import { PartialType } from '@nestjs/swagger';
import { InputOf, Public, SomeOf, Text, Verbatim } from '../../src/platform';
import { expectError } from '../../src/platform/testing';
import { useTestApi } from '../support/test-api';

enum Colour {
  RED = 'RED',
  BLUE = 'BLUE',
}

class ShownDto {
  @Text({ max: 10 })
  name: string;

  @Text({ max: 10, nullable: true })
  note: string | null;

  @SomeOf(Colour)
  colours: Colour[];
}

class InputDto extends InputOf(ShownDto, { required: ['name'], defaults: { note: null, colours: [Colour.BLUE] } }) {}
class PatchInputDto extends PartialType(InputDto, { skipNullProperties: false }) {}

@Controller('inputs')
@Public()
class InputsController {
  @Post()
  input(@Body() input: InputDto): object {
    return new Verbatim(input);
  }

  @Patch()
  updateInput(@Body() changes: PatchInputDto): object {
    return new Verbatim(changes);
  }
}

@Module({ controllers: [InputsController] })
class InputsModule {}

describe('InputOf', () => {
  const api = useTestApi({ imports: [InputsModule] });

  it('asks for what is required, and gives the rest its defaults', async () => {
    const { body } = await api.post('/inputs', { name: 'a' });

    expect(body).toEqual({ name: 'a', note: null, colours: ['BLUE'] });
    expectError(await api.post('/inputs', {}), 'VALIDATION_ERROR', { fields: { name: 'required' } });
  });

  it('keeps the rules that the attributes have', async () => {
    const answer = await api.post('/inputs', { name: null, note: 'x'.repeat(11), colours: null });

    expectError(answer, 'VALIDATION_ERROR', { fields: { name: 'type', note: 'length', colours: 'type' } });
    expect((await api.post('/inputs', { name: 'a', note: null })).status).toBe(201);
  });

  it('has no defaults for a PATCH', async () => {
    expect((await api.patch('/inputs', {})).body).toEqual({});
    expectError(await api.patch('/inputs', { colours: null }), 'VALIDATION_ERROR', {
      fields: { colours: 'type' },
    });
  });

  it('documents the defaults, and that the attributes may be left out', async () => {
    const { InputDto, Input } = (await api.get('//docs/json')).body.components.schemas;

    expect(Input ?? InputDto).toMatchObject({
      required: ['name'],
      properties: { name: { maxLength: 10 }, note: { maxLength: 10 }, colours: { default: ['BLUE'], minItems: 1 } },
    });
  });
});
