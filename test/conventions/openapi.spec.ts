import type { Client } from '../../src/platform/testing';
import { BuiltService } from '../support/built-service';
import { Document, type Node, type Operation } from '../support/openapi';
import { clientOf, useTestApi } from '../support/test-api';

const BUILD_AND_START = 150_000;

// The compiler's plugin turns doc comments into documentation, so this is about the compiled service.
/** What is particular to some operations; the rest is in every-operation.spec.ts. */
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

  describe('as a text', () => {
    it('is OpenAPI 3.1, whose schemas are JSON Schema', () => {
      expect(document.json.openapi).toBe('3.1.0');
      // They were compiled strictly, so there is no `nullable` and no `example` among them.
      expect(Object.keys(document.json.components.schemas)).toEqual(expect.arrayContaining(['User', 'ApiError']));
    });

    it('names operations in one style', () => {
      const ids = document.operations.map(({ spec }) => spec.operationId as string);
      const some = ['listUsers', 'getUser', 'getUserProfile', 'deleteUser', 'signIn', 'appendToUpload'];

      expect(ids).toEqual(expect.arrayContaining(some));
    });

    it('fills in what a request sends as it stands', () => {
      const filled = (operation('POST /api/v1/uploads').spec.parameters as Node[]).filter(({ example }) => example);
      expect(filled.map(({ name }) => name)).toEqual(['Tus-Resumable', 'Upload-Length', 'Upload-Metadata']);
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
        'id,created_at,updated_at,version,username,email,name,image,status,roles',
      );
      expect(JSON.stringify(document.json)).not.toMatch(/password_hash|_key\b|deleted_at|argon2|Dto\b|x-raises/);
    });
  });
});
