import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  All,
  Body,
  Controller,
  Delete,
  Get,
  Headers,
  HttpCode,
  Module,
  Param,
  ParseBoolPipe,
  ParseEnumPipe,
  ParseIntPipe,
  ParseUUIDPipe,
  Patch,
  Post,
  Put,
  Query,
  Res,
} from '@nestjs/common';
import {
  ApiBasicAuth,
  ApiBearerAuth,
  ApiBody,
  ApiExcludeController,
  ApiExcludeEndpoint,
  ApiExtraModels,
  ApiHeader,
  ApiHideProperty,
  ApiNotFoundResponse,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiProperty,
  ApiPropertyOptional,
  ApiQuery,
  ApiResponse,
  ApiSecurity,
  ApiTags,
  DocumentBuilder,
  getSchemaPath,
  IntersectionType,
  OmitType,
  PartialType,
  PickType,
  SwaggerModule,
} from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { Allow, IsEmail, IsEnum, IsInt, IsOptional, IsString, Length, Matches, ValidateNested } from 'class-validator';
import type { Response } from 'express';
import {
  Answers,
  AnswersPage,
  Creates,
  IdParam,
  KeyParam,
  ListQueryOf,
  Money,
  OneOf,
  Page,
  Public,
  ResourceDto,
  Role,
  Roles,
  Text,
  Verbatim,
} from '../../src/platform';
import { declareSecurity } from '../../src/platform';
import { expectError, expectSuccess } from '../support/expectations';
import { Document, type Node } from '../support/openapi';
import { useTestApi } from '../support/test-api';

enum Kind {
  CAT = 'CAT',
  DOG = 'DOG',
}

enum Grade {
  LOW = 1,
  HIGH = 2,
}

class PetDto extends ResourceDto {
  @Text({ max: 20 })
  @ApiProperty({ description: 'What it is called.', example: 'Tom' })
  name: string;

  @OneOf(Kind, { nullable: true })
  @ApiProperty({ description: 'What it is.', example: 'CAT' })
  kind: Kind | null;

  @Money()
  @ApiProperty({ description: 'What it costs.', example: 5 })
  price: number;
}

class NewPetDto extends PickType(PetDto, ['name', 'price']) {}
class PatchPetDto extends PartialType(NewPetDto, { skipNullProperties: false }) {}
class PetWithoutPriceDto extends OmitType(PetDto, ['price', 'kind']) {}

/** Of a team that knows Nest's documentation. */
class OwnerDto {
  @IsString()
  @Length(1, 50)
  @ApiProperty({ example: 'Ada', minLength: 1, maxLength: 50 })
  name: string;

  @IsOptional()
  @IsEmail()
  @ApiPropertyOptional({ type: String, format: 'email', nullable: true, example: 'ada@example.com' })
  email?: string | null;

  @ApiHideProperty()
  @Allow()
  secret?: string;
}

class AddressDto {
  @IsString()
  @ApiProperty({ example: 'Bern' })
  city: string;
}

class OwnerWithAddressDto extends IntersectionType(OwnerDto, AddressDto) {}
class PartOfOwnerDto extends PartialType(PickType(OwnerDto, ['name', 'email'] as const)) {}

class CatDto {
  @ApiProperty({ enum: ['CAT'], example: 'CAT' })
  @IsEnum(['CAT'])
  type: 'CAT';

  @ApiProperty({ exclusiveMinimum: true, minimum: 0, example: 9 })
  @IsInt()
  lives: number;
}

class DogDto {
  @ApiProperty({ enum: ['DOG'], example: 'DOG' })
  @IsEnum(['DOG'])
  type: 'DOG';
}

/** Another class than CatDto, whose short name this would be. */
class Cat {
  @ApiProperty({ example: 'x' })
  whiskers: string;
}

class HouseholdDto {
  @ApiProperty({ oneOf: [{ $ref: getSchemaPath(CatDto) }, { $ref: getSchemaPath(DogDto) }], nullable: true })
  @Allow()
  favourite: CatDto | DogDto | null;

  @ApiProperty({ type: () => AddressDto, nullable: true, description: 'Where it is.' })
  @IsOptional()
  @ValidateNested()
  @Type(() => AddressDto)
  address: AddressDto | null;

  @ApiProperty({ type: [AddressDto] })
  @ValidateNested({ each: true })
  @Type(() => AddressDto)
  others: AddressDto[];

  @ApiProperty({ type: 'object', additionalProperties: { type: 'string' }, example: { a: 'b' } })
  @Allow()
  labels: Record<string, string>;

  @ApiProperty({ type: [String], example: ['a'] })
  @IsString({ each: true })
  tags: string[];
}

/** Contains its own kind. */
class BranchDto extends ResourceDto {
  @ApiProperty({ type: () => [BranchDto] })
  branches: BranchDto[];
}

class ListBranchesQuery extends ListQueryOf(BranchDto, { sortable: ['id'] }) {}
/** What a team's list leaves out or adds. */
class FewPetsQuery extends OmitType(ListQueryOf(PetDto, { sortable: ['id', 'name'] }), ['search'] as const) {}

/** As the compiler's plugin leaves a class without decorators of its own. */
class PluginDto {
  id: number;
  nickname?: string;

  static _OPENAPI_METADATA_FACTORY() {
    return { id: { required: true, type: () => Number }, nickname: { required: false, type: () => String } };
  }
}

class PetParams {
  @IsEnum(Kind)
  @ApiProperty({ enum: Kind, description: 'The kind to look for.' })
  kind: Kind;

  @Matches(/^[a-z]{1,9}$/)
  @ApiProperty({ pattern: '^[a-z]{1,9}$', example: 'tom' })
  name: string;
}

declareSecurity('api-key', { type: 'apiKey', in: 'header', name: 'X-API-Key' });
declareSecurity('basic', { type: 'http', scheme: 'basic' });

@ApiTags('Pets')
@Controller('house-pets')
@Public()
@ApiExtraModels(CatDto, DogDto, Cat)
class HousePetsController {
  @Get()
  @AnswersPage(PetDto)
  list(@Query() _: FewPetsQuery): Page<object> {
    return new Page<object>([], { page: 0, size: 20, total: 0, totalPages: 0 });
  }

  @Get('branches')
  @AnswersPage(BranchDto)
  branches(@Query() _: ListBranchesQuery): Page<object> {
    return new Page<object>([], { page: 0, size: 20, total: 0, totalPages: 0 });
  }

  @Get('by-number/:number')
  byNumber(@Param('number', ParseIntPipe) number: number): object {
    return { number };
  }

  @Get('by-uuid/:uuid')
  byUuid(@Param('uuid', new ParseUUIDPipe({ version: '4' })) uuid: string): object {
    return { uuid };
  }

  @Get('by-kind/:kind/:grade')
  byKind(@Param('kind', new ParseEnumPipe(Kind)) kind: Kind, @Param('grade', new ParseEnumPipe(Grade)) grade: Grade) {
    return { kind, grade };
  }

  @Get('by-flag/:flag')
  byFlag(@Param('flag', ParseBoolPipe) flag: boolean): object {
    return { flag };
  }

  @Get('by-text/:text')
  byText(@Param('text') text: string): object {
    return { text };
  }

  @Get('by-anything/:one/:other')
  byAnything(@Param() all: Record<string, string>): object {
    return all;
  }

  @Get('by-both/:kind/:name')
  byBoth(@Param() params: PetParams): object {
    return params;
  }

  @Get('by-code/:code')
  @ApiParam({ name: 'code', schema: { type: 'string', pattern: '^[A-Z]{3}$' }, example: 'ABC', description: 'A code.' })
  byCode(@Param('code') code: string): object {
    return { code };
  }

  @Get('by-country/:country')
  @ApiParam({ name: 'country', enum: ['CH', 'DE'], description: 'Where it lives.' })
  byCountry(@Param('country') country: string): object {
    return { country };
  }

  @Get('by-key/:key')
  byKey(@KeyParam() key: string): object {
    return { key };
  }

  @Get('plugin')
  @Answers(PluginDto)
  plugin(): PluginDto {
    return { id: 1, nickname: 'x' };
  }

  @Get('by-hand/:id')
  @ApiOperation({ operationId: 'readByHand', summary: 'By hand' })
  @ApiOkResponse({ type: OwnerDto })
  @ApiNotFoundResponse({ description: 'Nobody has it.' })
  @ApiResponse({ status: 418, description: 'A teapot.', schema: { type: 'object', additionalProperties: true } })
  byHand(@IdParam() id: number): object {
    return { name: `number ${id}` };
  }

  @Get('in-a-list')
  @ApiOkResponse({ type: [OwnerDto], description: 'All of them.' })
  inAList(): OwnerDto[] {
    return [{ name: 'Ada' }];
  }

  @Get('itself')
  @ApiOkResponse({ description: 'As it is.', type: OwnerDto })
  itself(@Res() response: Response): void {
    response.json({ name: 'Ada' });
  }

  @Get('verbatim')
  @ApiOkResponse({ description: 'As it is.', type: OwnerDto })
  verbatim(): Verbatim {
    return new Verbatim({ name: 'Ada' });
  }

  @Post()
  @Creates(PetDto)
  create(@Body() input: NewPetDto): object {
    return { id: 1, ...input };
  }

  @Patch(':id')
  @Answers(PetDto)
  update(@IdParam() id: number, @Body() changes: PatchPetDto): object {
    return { id, ...changes };
  }

  @Put('owners')
  @HttpCode(200)
  @ApiOkResponse({ type: OwnerWithAddressDto, description: 'The owner.' })
  owner(@Body() input: OwnerWithAddressDto): object {
    return input;
  }

  @Patch('owners/:id')
  @ApiOkResponse({ type: PetWithoutPriceDto, description: 'The owner.' })
  patchOwner(@IdParam() _: number, @Body() input: PartOfOwnerDto): object {
    return input;
  }

  @Put('households')
  @HttpCode(200)
  @ApiOkResponse({ type: HouseholdDto, description: 'The household.' })
  household(@Body() input: HouseholdDto): object {
    return input;
  }

  @Put('animals')
  @HttpCode(200)
  @ApiBody({
    schema: { oneOf: [{ $ref: getSchemaPath(CatDto) }, { $ref: getSchemaPath(DogDto) }] },
    examples: { cat: { value: { type: 'CAT', lives: 9 } } },
  })
  animal(@Body() input: object): object {
    return input;
  }

  @Get('asking')
  @ApiQuery({ name: 'colour', required: false, enum: ['red', 'blue'], description: 'The colour.', example: 'red' })
  @ApiHeader({ name: 'X-Shop', description: 'The shop.', example: 'bern' })
  asking(@Query('colour') colour?: string, @Headers('x-shop') shop?: string): object {
    return { colour, shop };
  }

  @Delete(':id')
  @HttpCode(204)
  @ApiExcludeEndpoint()
  remove(@IdParam() _: number): void {}

  @Get(['first-name', 'second-name'])
  aliases(): object {
    return {};
  }
}

@Controller('secured-pets')
class SecuredPetsController {
  @Get('key')
  @Public()
  @ApiSecurity('api-key')
  byKey(): object {
    return {};
  }

  @Get('both')
  @Roles(Role.ADMIN)
  @ApiBasicAuth()
  @ApiOperation({ operationId: 'bothSecured' })
  both(): object {
    return {};
  }

  @Get('bearer')
  @Public()
  @ApiBearerAuth()
  bearer(): object {
    return {};
  }

  @Get('roles')
  @Roles(Role.USER)
  @ApiBearerAuth()
  roles(): object {
    return {};
  }

  @All('any')
  @Roles(Role.ADMIN)
  any(): object {
    return {};
  }
}

@Controller('hidden-pets')
@ApiExcludeController()
@Public()
class HiddenPetsController {
  @Get()
  list(): object {
    return {};
  }
}

const controllers = [HousePetsController, SecuredPetsController, HiddenPetsController];
@Module({ controllers })
class PetsModule {}

/** A second controller of this name, in a module of its own. */
const others = (() => {
  @Controller('more-pets')
  class SecuredPetsController {
    @Get('roles')
    @Public()
    roles(): object {
      return {};
    }
  }
  @Module({ controllers: [SecuredPetsController] })
  class MorePetsModule {}
  return MorePetsModule;
})();

describe('The document of a team’s routes', () => {
  const api = useTestApi({ imports: [PetsModule, others] });
  let document: Document;
  let json: Node;

  beforeAll(async () => {
    json = (await api.get('//docs/json')).body;
    document = new Document(json);
  });

  const operation = (path: string, method = 'get'): Node => json.paths[`/api/v1/${path}`]?.[method];
  const schemaNamed = (name: string): Node => json.components.schemas[name];
  const resolved = (schema: Node): Node => (schema?.$ref ? schemaNamed(schema.$ref.split('/').at(-1)) : schema);
  const parameter = (path: string, name: string): Node =>
    operation(path).parameters.find((one: Node) => one.name === name);
  const dataOf = (path: string, method = 'get', status = 200): Node =>
    operation(path, method).responses[status].content['application/json'].schema.properties.data;
  const bodyOf = (path: string, method: string): Node =>
    operation(path, method).requestBody.content['application/json'];

  it('is valid, in both versions', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'documents-'));
    try {
      const files = ['v1.json', 'v2.json'].map((name) => join(directory, name));
      writeFileSync(files[0], JSON.stringify(json));
      writeFileSync(files[1], JSON.stringify((await api.get('//docs/v2/json')).body));
      const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
      const linter = ['node_modules/@redocly/cli/bin/cli.js', 'lint', '--extends', 'spec'];
      const { status, stdout } = spawnSync(process.execPath, [...linter, ...files], { env, encoding: 'utf8' });
      expect([status, stdout]).toEqual([0, '']);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  it('has nothing of what the decorators only told the document’s maker', () => {
    expect(JSON.stringify(json)).not.toMatch(/"x-(item|page|raises|headers|filled|example|group|body-limit)"/);
  });

  it.each([
    ['by-number/{number}', 'number', { type: 'integer' }],
    ['by-uuid/{uuid}', 'uuid', { type: 'string', format: 'uuid' }],
    ['by-kind/{kind}/{grade}', 'kind', { type: 'string', enum: ['CAT', 'DOG'] }],
    ['by-kind/{kind}/{grade}', 'grade', { type: 'number', enum: [1, 2] }],
    ['by-flag/{flag}', 'flag', { type: 'boolean' }],
    ['by-text/{text}', 'text', { type: 'string' }],
    ['by-anything/{one}/{other}', 'one', { type: 'string' }],
    ['by-anything/{one}/{other}', 'other', { type: 'string' }],
    ['by-both/{kind}/{name}', 'kind', { type: 'string', enum: ['CAT', 'DOG'] }],
    ['by-both/{kind}/{name}', 'name', { type: 'string', pattern: '^[a-z]{1,9}$' }],
    ['by-code/{code}', 'code', { type: 'string', pattern: '^[A-Z]{3}$' }],
    ['by-country/{country}', 'country', { type: 'string', enum: ['CH', 'DE'] }],
    ['by-key/{key}', 'key', { type: 'string', format: 'uuid' }],
    ['by-hand/{id}', 'id', { type: 'integer', format: 'int64', minimum: 1 }],
  ])('says what a path parameter may be: %s, %s', (path, name, schema) => {
    const found = parameter(`house-pets/${path}`, name);
    expect(found).toMatchObject({ in: 'path', required: true, schema, description: expect.any(String) });
    if (name !== 'id') expect(found.schema).not.toHaveProperty('maximum');
    expect([name, document.violations(found.schema, found.example)]).toEqual([name, []]);
  });

  it('describes path parameters in the words of the team, or by their names', () => {
    expect(parameter('house-pets/by-code/{code}', 'code')).toMatchObject({ description: 'A code.', example: 'ABC' });
    expect(parameter('house-pets/by-both/{kind}/{name}', 'kind').description).toBe('The kind to look for.');
    expect(parameter('house-pets/by-uuid/{uuid}', 'uuid').description).toBe('The uuid.');
    expect(parameter('house-pets/by-hand/{id}', 'id').description).toBe('The id of the by hand.');
  });

  it('answers routes with such parameters as it says', async () => {
    expectSuccess(await api.get('/house-pets/by-number/7'), 200, 'OK');
    expectError(await api.get('/house-pets/by-number/x'), 'VALIDATION_ERROR');
    expectSuccess(await api.get('/house-pets/by-kind/CAT/2'), 200, 'OK');
    expectError(await api.get('/house-pets/by-kind/COW/2'), 'VALIDATION_ERROR');
    expectError(await api.get('/house-pets/by-uuid/1'), 'VALIDATION_ERROR');
    expectSuccess(await api.get('/house-pets/by-both/CAT/tom'), 200, 'OK');
  });

  it('takes mapped types of its own attributes and of a team’s', async () => {
    expect(Object.keys(resolved(bodyOf('house-pets', 'post').schema).properties)).toEqual(['name', 'price']);
    expect(resolved(bodyOf('house-pets', 'post').schema)).toMatchObject({
      required: ['name', 'price'],
      additionalProperties: false,
    });
    expect(resolved(bodyOf('house-pets/{id}', 'patch').schema)).not.toHaveProperty('required');
    expect(Object.keys(schemaNamed('PetWithoutPrice').properties).sort()).toEqual([
      'created_at',
      'id',
      'name',
      'updated_at',
    ]);
    expect(schemaNamed('OwnerWithAddress')).toMatchObject({ required: ['name', 'city'] });
    expect(Object.keys(schemaNamed('PartOfOwner').properties)).toEqual(['name', 'email']);

    expectError(await api.post('/house-pets', { name: 'Tom' }), 'VALIDATION_ERROR', { fields: { price: 'required' } });
    expectError(await api.patch('/house-pets/1', { name: null }), 'VALIDATION_ERROR', { fields: { name: 'type' } });
    expectSuccess(await api.patch('/house-pets/1', {}), 200, 'OK');
    expectSuccess(await api.put('/house-pets/owners', { name: 'Ada', city: 'Bern' }), 200, 'OK');
    expectError(await api.put('/house-pets/owners', { name: 'Ada' }), 'VALIDATION_ERROR');
    expectSuccess(await api.patch('/house-pets/owners/1', {}), 200, 'OK');
    expectError(await api.patch('/house-pets/owners/1', { name: '' }), 'VALIDATION_ERROR');
  });

  it('leaves parameters of a list out that its class leaves out', async () => {
    const names = operation('house-pets').parameters.map((one: Node) => one.name);
    expect(names).toEqual(expect.arrayContaining(['page', 'sort', 'fields']));
    expect(names).not.toContain('search');
    expectError(await api.get('/house-pets?search=a'), 'VALIDATION_ERROR', { fields: { search: 'unknown' } });
    expect((await api.get('/house-pets?sort=name&fields=name')).status).toBe(200);
    expect((await api.get('//api/v2/house-pets?size=2')).status).toBe(200);
  });

  it('takes a class that contains its own kind', async () => {
    expect(schemaNamed('Branch').properties.branches).toMatchObject({
      type: 'array',
      items: { $ref: expect.anything() },
    });
    expect((await api.get('/house-pets/branches')).status).toBe(200);
  });

  it('says of null what JSON Schema says', () => {
    const violations = (schema: Node, value: unknown) => document.violations(schema, value);
    expect(violations(schemaNamed('Pet').properties.kind, null)).toEqual([]);
    expect(violations(schemaNamed('Pet').properties.kind, 'CAT')).toEqual([]);
    expect(violations(schemaNamed('Owner').properties.email, null)).toEqual([]);
    const { favourite, address, labels } = schemaNamed('Household').properties;
    for (const schema of [favourite, address]) expect(violations(schema, null)).toEqual([]);
    expect(violations(favourite, { type: 'CAT', lives: 9 })).toEqual([]);
    expect(violations(favourite, { type: 'COW' })).not.toEqual([]);
    expect(violations(address, { city: 'Bern' })).toEqual([]);
    expect(violations(address, { city: 'Bern', zip: 1 })).not.toEqual([]);
    expect(violations(labels, { a: 'b' })).toEqual([]);
    expect(violations(labels, { a: 1 })).not.toEqual([]);
    expect(violations(schemaNamed('CatDto').properties.lives, 0)).not.toEqual([]);
  });

  it('hides what is to be hidden, and what is excluded', () => {
    expect(Object.keys(schemaNamed('Owner').properties)).toEqual(['name', 'email']);
    expect(json.paths['/api/v1/hidden-pets']).toBeUndefined();
    expect(operation('house-pets/{id}', 'delete')).toBeUndefined();
    expect(operation('house-pets/{id}', 'patch')).toBeDefined();
  });

  it('keeps two classes apart of which one has the other’s short name', () => {
    expect(Object.keys(schemaNamed('Cat').properties)).toEqual(['whiskers']);
    expect(Object.keys(schemaNamed('CatDto').properties)).toEqual(['type', 'lives']);
    expect(JSON.stringify(schemaNamed('Household').properties.favourite)).toContain('schemas/CatDto"');
  });

  it('has what the compiler’s plugin found, which `fields` takes as well', async () => {
    expect(Object.keys(schemaNamed('Plugin').properties)).toEqual(['id', 'nickname']);
    expect((await api.get('/house-pets/plugin?fields=nickname')).body.data).toEqual({ nickname: 'x' });
    expect(parameter('house-pets/plugin', 'fields').schema.items.enum).toEqual(['id', 'nickname']);
  });

  it('keeps what is written by hand, and adds what is missing', async () => {
    const { responses, operationId, summary } = operation('house-pets/by-hand/{id}');
    expect([operationId, summary]).toEqual(['readByHand', 'By hand']);
    expect(responses[200]).toMatchObject({ description: 'OK', headers: { 'X-Request-Id': expect.anything() } });
    expect(responses[404].description).toBe('Nobody has it.');
    expect(responses[404].content['application/json'].schema).toEqual({ $ref: '#/components/schemas/Error' });
    expect(responses[418]).toMatchObject({ description: 'A teapot.' });
    expect(responses[400]).toBeDefined();
    const success = responses[200].content['application/json'].schema;
    expect(document.violations(success, (await api.get('/house-pets/by-hand/1')).body)).toEqual([]);
    expect(document.violations(success, { name: 'Ada' })).not.toEqual([]);
    expect(dataOf('house-pets/in-a-list')).toMatchObject({ type: 'array' });
  });

  it('puts no envelope around what leaves without one', async () => {
    for (const path of ['house-pets/itself', 'house-pets/verbatim']) {
      const { schema } = operation(path).responses[200].content['application/json'];
      expect(document.violations(schema, (await api.get(`/${path}`)).body)).toEqual([]);
      expect(resolved(schema)).toBe(schemaNamed('Owner'));
    }
  });

  it('keeps bodies that are one of several, and examples by hand', () => {
    const { schema, examples, example } = bodyOf('house-pets/animals', 'put');
    expect(document.violations(schema, { type: 'CAT', lives: 9 })).toEqual([]);
    expect(document.violations(schema, { type: 'DOG' })).toEqual([]);
    expect(document.violations(schema, { type: 'COW' })).not.toEqual([]);
    expect([examples, example]).toEqual([{ cat: { value: { type: 'CAT', lives: 9 } } }, undefined]);
  });

  it('has no example that breaks its schema', () => {
    for (const { where, node } of [...document.bodies()].filter(({ where }) => where.includes('pets'))) {
      const { schema, example } = node.content['application/json'];
      if (example !== undefined) expect([where, document.violations(schema, example)]).toEqual([where, []]);
    }
    expect(bodyOf('house-pets/households', 'put').example).toMatchObject({ tags: ['a'], labels: { a: 'b' } });
  });

  it('keeps queries, headers and tags by hand', () => {
    const { tags, parameters } = operation('house-pets/asking');
    expect(tags).toEqual(['Pets']);
    expect(json.tags.map((tag: Node) => tag.name)).toContain('Pets');
    const [colour, shop] = ['colour', 'X-Shop'].map((name) => parameters.find((one: Node) => one.name === name));
    expect(colour).toMatchObject({ in: 'query', required: false, schema: { enum: ['red', 'blue'] } });
    expect(shop).toMatchObject({ in: 'header', description: 'The shop.', schema: { examples: ['bern'] } });
  });

  it('asks for what the team’s guards ask for, beside its own', () => {
    const securityOf = (path: string) => operation(`secured-pets/${path}`).security as object[];
    expect(securityOf('key')).toEqual([{ 'api-key': [] }]);
    expect(securityOf('both')).toEqual([{ bearer: [], basic: [] }]);
    expect(securityOf('bearer')).toEqual([{ bearer: [] }]);
    expect(securityOf('roles')).toEqual([{ bearer: [] }]);
    expect(operation('secured-pets/both').description).toContain('For administrators.');
    expect(json.components.securitySchemes).toMatchObject({
      'api-key': { type: 'apiKey', name: 'X-API-Key' },
      basic: { scheme: 'basic' },
    });
  });

  it('names each operation once, and says of each who may call it', () => {
    const ids = document.operations.map(({ spec }) => spec.operationId as string);
    expect(new Set(ids).size).toBe(ids.length);
    // A token is welcome, and not needed.
    const open = [{}, { bearer: [] }];
    expect(operation('more-pets/roles').security).toEqual(open);
    for (const method of ['get', 'post', 'put', 'patch', 'delete']) {
      expect(operation('secured-pets/any', method).security).toEqual([{ bearer: [] }]);
    }
    expect(Object.keys(json.paths['/api/v1/secured-pets/any']).sort()).toEqual([
      'delete',
      'get',
      'patch',
      'post',
      'put',
    ]);
    for (const alias of ['first-name', 'second-name']) expect(operation(`house-pets/${alias}`).security).toEqual(open);
  });

  it('stands beside documents that a team makes of some modules, with models of its own', () => {
    const config = new DocumentBuilder().setTitle('Partners').addApiKey(undefined, 'api-key').build();
    const own = SwaggerModule.createDocument(api.app.nest, config, {
      include: [PetsModule],
      extraModels: [AddressDto],
    });
    expect(Object.keys(own.paths).every((path) => /^\/api\/v[12]\/(house|secured)-pets/.test(path))).toBe(true);
    expect(Object.keys(own.components!.schemas!)).toContain('AddressDto');
    expect(own.paths['/api/v1/secured-pets/key'].get!.security).toEqual([{ 'api-key': [] }]);
  });
});

describe('A security scheme that nobody declared', () => {
  @Controller('badly-secured')
  @Public()
  class BadlySecuredController {
    @Get()
    @ApiSecurity('unheard-of')
    list(): object {
      return {};
    }
  }
  @Module({ controllers: [BadlySecuredController] })
  class BadlySecuredModule {}

  const api = useTestApi({ imports: [BadlySecuredModule] });

  it('is named by whoever asks for the document', async () => {
    expectError(await api.get('//docs/json'), 'INTERNAL_ERROR');
    expect(JSON.stringify(api.app.log)).toContain("call declareSecurity('unheard-of'");
  });
});
