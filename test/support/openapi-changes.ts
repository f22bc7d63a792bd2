import type { Document } from '../../scripts/openapi/releases';

/** A small document, whose parts a test changes. */
export const anApi = () => ({
  openapi: '3.1.0',
  info: { title: 'Shelves', version: '1.0.0' },
  paths: {
    '/shelves': {
      get: {
        operationId: 'listShelves',
        description: 'Lists shelves.\n\nFor everyone.',
        security: [] as Record<string, string[]>[],
        parameters: [
          { name: 'size', in: 'query', required: false, schema: { type: 'integer', minimum: 1, maximum: 100 } },
          { name: 'sort', in: 'query', schema: { type: 'string', enum: ['id', 'name'], default: 'id' } },
        ] as object[],
        responses: {
          '200': {
            headers: { Link: { required: true, schema: { type: 'string' } } } as Record<string, object>,
            content: {
              'application/json': { schema: { type: 'array', items: { $ref: '#/components/schemas/Shelf' } } },
            } as Record<string, object>,
          },
          '429': { description: 'Too Many Requests' },
        },
      },
      post: {
        operationId: 'createShelf',
        description: 'Creates a shelf.\n\nFor everyone who signed in.',
        security: [{ bearer: [] }] as Record<string, string[]>[],
        requestBody: {
          required: true,
          content: { 'application/json': { schema: { $ref: '#/components/schemas/CreateShelf' } } },
        },
        responses: {
          '201': { content: { 'application/json': { schema: { $ref: '#/components/schemas/Shelf' } } } },
        },
      },
    },
    '/shelves/{id}': {
      get: {
        operationId: 'getShelf',
        parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' } }] as object[],
        responses: {
          '200': { content: { 'application/json': { schema: { $ref: '#/components/schemas/Shelf' } } } },
        },
      },
    },
  } as Record<string, Record<string, AnOperation>>,
  components: {
    schemas: {
      Shelf: {
        type: 'object',
        required: ['id', 'name', 'state'],
        properties: {
          id: { type: 'integer', format: 'int32' },
          name: { type: 'string', maxLength: 20 },
          state: { type: 'string', enum: ['EMPTY', 'FULL'] },
          parent: { $ref: '#/components/schemas/Shelf' },
          note: { type: 'string' },
        },
      },
      CreateShelf: {
        type: 'object',
        required: ['name'],
        additionalProperties: false,
        properties: {
          name: { type: 'string', minLength: 1, maxLength: 20 },
          state: { type: 'string', enum: ['EMPTY', 'FULL'] },
          note: { type: ['string', 'null'] },
          price: { type: 'number', multipleOf: 0.01 },
        },
      },
    } as Record<string, ASchema>,
  },
});

export type AnApi = ReturnType<typeof anApi>;

interface ASchema {
  required: string[];
  properties: Record<string, Record<string, unknown>>;
  [other: string]: unknown;
}

interface AnOperation {
  operationId: string;
  description?: string;
  deprecated?: boolean;
  security?: Record<string, string[]>[];
  parameters?: object[];
  requestBody?: { required?: boolean; content: Record<string, object> };
  responses: Record<string, object>;
}

/** The document with one change. */
export function changed(change: (api: AnApi) => void): Document {
  const api = anApi();
  change(api);
  return api;
}
