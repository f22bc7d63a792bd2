import { getSchemaPath, type OpenAPIObject } from '@nestjs/swagger';
import type { DtoClass } from '../input/fields';
import type { HeadersObject } from './openapi-types';

/** A message that the service sends by POST to URLs that callers have given it. */
export interface DocumentedWebhook {
  summary: string;
  description: string;
  /** The group of operations that it belongs to: the name of its `@ApiResource()`. */
  group: string;
  /** The class that documents the body. */
  body: DtoClass;
  /** Bodies as they are sent, by their names. */
  examples: Record<string, { summary: string; value: object }>;
  /** The headers of the request. */
  headers: HeadersObject;
  /** What the service makes of an answer, by the status. */
  answers: Record<string, string>;
}

const declared = new Map<string, DocumentedWebhook>();

/** Documents a message in the section `webhooks` of OpenAPI 3.1. */
export function declareWebhook(name: string, webhook: DocumentedWebhook): void {
  declared.set(name, webhook);
}

/** The classes of all bodies, for the document: no route has them. */
export const webhookBodies = (): DtoClass[] => [...declared.values()].map(({ body }) => body);

export function webhooksSection(): Partial<OpenAPIObject> {
  const entries = [...declared].map(([name, webhook]) => [name, { post: operationOf(name, webhook) }]);
  return entries.length === 0 ? {} : { webhooks: Object.fromEntries(entries) as OpenAPIObject['webhooks'] };
}

function operationOf(name: string, webhook: DocumentedWebhook): object {
  const { summary, description, group, body, examples, headers, answers } = webhook;
  const parameters = Object.entries(headers).map(([header, value]) => {
    return { name: header, in: 'header', required: true, ...value };
  });
  return {
    ...{ operationId: name, summary, description, tags: [group], parameters, security: [] },
    requestBody: {
      required: true,
      content: { 'application/json': { schema: { $ref: getSchemaPath(body) }, examples } },
    },
    responses: Object.fromEntries(Object.entries(answers).map(([status, said]) => [status, { description: said }])),
  };
}
