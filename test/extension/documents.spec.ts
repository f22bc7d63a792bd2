import { Controller, Get, Module } from '@nestjs/common';
import { ApiSecurity, DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { Public } from '../../src/platform';
import { expectError, expectSuccess } from '../../src/platform/testing';
import { Document, type Node } from '../support/openapi';
import { expectValid } from '../support/linted-documents';
import { useTestApi } from '../support/test-api';
import { AddressDto } from '../support/modules/pet-dtos';
import { others } from '../support/modules/more-pets';
import { PetsModule } from '../support/modules/pets';

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
    resolved(operation(path, method).responses[status].content['application/json'].schema).properties.data;
  const bodyOf = (path: string, method: string): Node =>
    operation(path, method).requestBody.content['application/json'];

  it('is valid, in both versions', async () => {
    expectValid(json, (await api.get('//docs/v2/json')).body);
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
      'version',
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
    expect(responses[404].content['application/json'].schema).toEqual({
      $ref: '#/components/schemas/NotFoundError',
    });
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
    expect(bodyOf('house-pets/households', 'put').example).toMatchObject({
      ...{ tags: ['a'], labels: { a: 'b' } },
      ...{ kind: 'CAT', other_kind: 'CAT', grades: [1], grade: 1 },
    });
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
