import { readFileSync } from 'node:fs';
import { RouteIndex } from '../../src/platform/routing/route-index';
import type { Client } from '../../src/platform/testing';
import { BuiltService } from '../support/built-service';
import { Document, examplesOf, type Node, type Operation, schemaOf } from '../support/openapi';
import { PLACES } from '../support/places';
import { clientOf, useTestApi } from '../support/test-api';
import { examplesIn } from '../support/documented-operation';

const BUILD_AND_START = 150_000;

// The compiler's plugin turns doc comments into documentation, so this is about the compiled service.
describe('The OpenAPI document', () => {
  const api = useTestApi();
  let service: BuiltService;
  let anyone: Client;
  let document: Document;

  beforeAll(async () => {
    service = await BuiltService.start({ DATABASE_URL: api.app.databaseUrl, DEMO_DATA: 'true', MIN_FREE_DISK: '0' });
    anyone = clientOf(() => service.url);
    document = new Document((await anyone.get('//docs/json')).body);
  }, BUILD_AND_START);

  afterAll(() => service?.stop());

  const operation = (name: string): Operation => document.operations.find((one) => one.name === name)!;
  const namesOf = (operations: Operation[]) => operations.map(({ name }) => name);

  describe('as a text', () => {
    it('is OpenAPI 3.1, whose schemas are JSON Schema', () => {
      expect(document.json.openapi).toBe('3.1.0');
      // They were compiled strictly, so there is no `nullable` and no `example` among them.
      expect(Object.keys(document.json.components.schemas)).toEqual(expect.arrayContaining(['User', 'Error']));
    });

    it.each([
      [`${PLACES.documents}/openapi.v1.json`, '//docs/json'],
      [`${PLACES.documents}/openapi.v2.json`, '//docs/v2/json'],
    ])('is %s; where it was meant to change, npm run openapi writes it anew', async (file, path) => {
      expect((await anyone.get(path)).body).toEqual(JSON.parse(readFileSync(file, 'utf8')));
    });

    it('has each route of the application, and no other', () => {
      const express = api.app.nest.getHttpAdapter().getInstance();
      const routes = RouteIndex.routesOf(express)
        .map(({ route }) => route!)
        .filter(({ path }) => !path.startsWith('/docs'))
        .flatMap(({ path, methods }) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`))
        // What OPTIONS tells of the tus protocol is in no document, as elsewhere.
        .filter((route) => !route.startsWith('OPTIONS '))
        .map((route) => route.replace(' /api/', ' /api/v1/').replaceAll(/:(\w+)/g, '{$1}'));

      expect(namesOf(document.operations).sort()).toEqual(routes.sort());
    });

    it('describes every operation, and puts it into a group that is described', () => {
      const groups = document.json.tags.filter((tag: Node) => tag.description).map((tag: Node) => tag.name);
      const poor = document.operations.filter(
        ({ spec }) => !spec.summary || spec.summary.length > 60 || !spec.description || !groups.includes(spec.tags[0]),
      );

      expect(namesOf(poor)).toEqual([]);
    });

    it('names every operation once, in one style', () => {
      const ids = document.operations.map(({ spec }) => spec.operationId as string);

      expect(new Set(ids).size).toBe(ids.length);
      expect(ids.filter((id) => !/^(list|get|create|replace|update|appendTo|delete)([A-Z][a-z]+)+$/.test(id))).toEqual(
        [],
      );
      expect(ids).toEqual(
        expect.arrayContaining([
          'listUsers',
          'getUser',
          'getUserProfile',
          'deleteUser',
          'createTokens',
          'appendToUpload',
        ]),
      );
    });

    it('describes every parameter, with an example', () => {
      const poor = document.parameters().filter(({ node }) => !node.description || examplesIn(node).length === 0);

      expect(poor.map(({ where }) => where)).toEqual([]);
    });

    it('lists what a request needs before what it may have, and fills in what it sends as it stands', () => {
      for (const { name, spec } of document.operations) {
        const required = (spec.parameters as Node[]).map((parameter) => Boolean(parameter.required));
        expect([name, required]).toEqual([name, [...required].sort((one, other) => Number(other) - Number(one))]);
      }
      const filled = (operation('POST /api/v1/uploads').spec.parameters as Node[]).filter(({ example }) => example);
      expect(filled.map(({ name }) => name)).toEqual(['Tus-Resumable', 'Upload-Length', 'Upload-Metadata']);
    });

    it('describes every attribute, with an example unless it is made of others', () => {
      const composed = ({ $ref, properties, items }: Node) => $ref || properties || items?.properties || items?.$ref;
      const poor = document
        .attributes()
        .filter(({ node }) => !composed(node) && (!node.description || examplesIn(node).length === 0));

      expect(poor.map(({ where }) => where)).toEqual([]);
    });

    it('describes every response and every header', () => {
      const poor = document.responses().filter(({ node: { description, headers } }) => {
        const mute = Object.values<Node>(headers).filter((header) => !header.$ref && !header.description);
        // What decorators say twice stands there twice.
        return !description || /^(.+)\n\n\1$/s.test(description) || mute.length > 0;
      });

      expect(poor.map(({ where }) => where)).toEqual([]);
    });

    it('has no example that breaks its own schema', () => {
      const single = [...document.attributes(), ...document.parameters()].flatMap(({ where, node }) =>
        examplesIn(node).map((example) => ({ where, problems: document.violations(node.schema ?? node, example) })),
      );
      const bodies = [...document.bodies(), ...document.responses()].flatMap(({ where, node }) =>
        examplesOf(node).map((example) => ({ where, problems: document.violations(schemaOf(node), example) })),
      );

      expect(Math.min(single.length, bodies.length)).toBeGreaterThan(50);
      expect([...single, ...bodies].filter(({ problems }) => problems.length > 0)).toEqual([]);
    });

    it('asks for a token where the service does', () => {
      const security = Object.fromEntries(document.operations.map(({ name, spec }) => [name, spec.security]));

      expect(document.json.components.securitySchemes.bearer).toMatchObject({ type: 'http', scheme: 'bearer' });
      expect(security).toMatchObject({
        'POST /api/v1/auth/tokens': [],
        'GET /api/v1/public': [],
        'GET /health/ready': [],
        'POST /api/v1/users': [{}, { bearer: [] }],
        'GET /api/v1/users': [{ bearer: [] }],
      });
    });

    it('shows no column that is not public', () => {
      expect(Object.keys(document.json.components.schemas.User.properties).join()).toBe(
        'id,created_at,updated_at,username,email,name,status,roles',
      );
      expect(JSON.stringify(document.json)).not.toMatch(/password_hash|_key\b|deleted_at|argon2|Dto\b|x-raises/);
    });
  });
});
