import {
  Body,
  Controller,
  HttpCode,
  Module,
  Param,
  type PipeTransform,
  Post,
  Query,
  StandardSchemaValidationPipe,
  UsePipes,
} from '@nestjs/common';
import { Public } from '../../src/platform';
import { expectError, expectSuccess } from '../../src/platform/testing';
import { startApp } from '../support/test-app';
import { useTestApi } from '../support/test-api';

type Issue = { message: string; path?: (PropertyKey | { key: PropertyKey })[] };

/** As zod, valibot and arktype make them. */
const schemaOf = (validate: (value: unknown) => { value: unknown } | { issues: Issue[] }) => ({
  '~standard': { version: 1 as const, vendor: 'tests', validate },
});

const cats = schemaOf((value) => {
  const { items } = value as { items?: { name?: unknown }[] };
  if (!items) return { issues: [{ message: 'needs\nitems' }] };
  const issues = items.flatMap(({ name }, index): Issue[] =>
    typeof name === 'string' ? [] : [{ message: 'must be a text', path: ['items', { key: index }, 'name'] }],
  );
  return issues.length > 0 ? { issues } : { value: { items: items.length } };
});
const small = schemaOf((value) =>
  Number(value) < 10 ? { value: Number(value) } : { issues: [{ message: 'is big' }] },
);
const tags = schemaOf((value) =>
  Array.isArray(value) ? { value } : { issues: [{ message: 'must be a list', path: ['first'] }] },
);

@Controller('schemed')
@Public()
class SchemedController {
  @Post(':id')
  @HttpCode(200)
  take(
    @Param('id', { schema: small }) id: unknown,
    @Query('size', { schema: small }) size: unknown,
    @Body({ schema: cats }) body: object,
  ): object {
    return { id, size, body };
  }

  @Post('tags/of/one')
  @HttpCode(200)
  tags(@Body('tags', { schema: tags }) list: unknown): object {
    return { list };
  }
}

@Module({ controllers: [SchemedController] })
class SchemedModule {}

describe('Standard Schemas, with a StandardSchemaValidationPipe for all routes', () => {
  const api = useTestApi({
    imports: [SchemedModule],
    prepare: (app) => void app.useGlobalPipes(new StandardSchemaValidationPipe()),
  });

  it('give the handler what they make of the input', async () => {
    const made = expectSuccess(await api.post('/schemed/1?size=2', { items: [{ name: 'Tom' }] }));

    expect(made).toEqual({ id: 1, size: 2, body: { items: 1 } });
    expect(expectSuccess(await api.post('/schemed/tags/of/one', { tags: ['a'] }))).toEqual({ list: ['a'] });
  });

  it('name the field of an issue by its path', async () => {
    const answer = await api.post('/schemed/1?size=2', { items: [{ name: 1 }, { name: 'Tom' }, {}] });

    expectError(answer, 'VALIDATION_ERROR', { fields: { 'items.0.name': 'invalid', 'items.2.name': 'invalid' } });
    expect(answer.body.error.fields[0].message).toBe('must be a text');
    expectError(await api.post('/schemed/tags/of/one', { tags: 1 }), 'VALIDATION_ERROR', {
      fields: { 'tags.first': 'invalid' },
    });
  });

  it('name the parameter, or the body, for an issue without a path', async () => {
    const fieldsOf = async (path: string, body: object) =>
      expectError(await api.post(path, body), 'VALIDATION_ERROR').fields;

    expect(await fieldsOf('/schemed/1?size=2', {})).toEqual([
      { field: 'body', rule: 'invalid', message: 'needs items' },
    ]);
    expect(await fieldsOf('/schemed/1?size=20', { items: [] })).toMatchObject([{ field: 'size', message: 'is big' }]);
    expect(await fieldsOf('/schemed/11?size=2', { items: [] })).toMatchObject([{ field: 'id', message: 'is big' }]);
  });

  it('have at most 20 issues in an error', async () => {
    const items = Array.from({ length: 30 }, () => ({}));

    expect(expectError(await api.post('/schemed/1?size=2', { items }), 'VALIDATION_ERROR').fields).toHaveLength(20);
  });
});

describe('A schema that no pipe reads', () => {
  it('refuses the start, and names the route', async () => {
    await expect(startApp({ imports: [SchemedModule] })).rejects.toThrow(
      /StandardSchemaValidationPipe[^]*SchemedController\.take[^]*SchemedController\.tags/,
    );
  });
});

class OwnPipe implements PipeTransform {
  transform = (value: unknown) => value;
}

describe('A schema that may be read by a pipe of the route', () => {
  @Controller('piped')
  @Public()
  class PipedController {
    @Post('one')
    @UsePipes(StandardSchemaValidationPipe)
    @HttpCode(200)
    one(@Body({ schema: cats }) body: object): object {
      return body;
    }

    @Post('other')
    @HttpCode(200)
    other(@Body({ schema: cats, pipes: [OwnPipe] }) body: object): object {
      return body;
    }
  }
  @Module({ controllers: [PipedController] })
  class PipedModule {}
  const api = useTestApi({ imports: [PipedModule] });

  it('is left to that pipe', async () => {
    expectError(await api.post('/piped/one', {}), 'VALIDATION_ERROR', { fields: { body: 'invalid' } });
    expectSuccess(await api.post('/piped/other', {}));
  });
});
