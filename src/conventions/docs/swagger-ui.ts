import type { INestApplication } from '@nestjs/common';
import { SwaggerModule } from '@nestjs/swagger';
import { openApiDocument } from './openapi';

/** The parts of Swagger UI's page that are used here. */
declare const window: { ui: { preauthorizeApiKey(scheme: string, token: string): void } };

/** Swagger UI at /docs and the document itself at /docs/json; all files come from this server. */
export function setUpDocs(app: INestApplication): void {
  SwaggerModule.setup('docs', app, () => openApiDocument(app), {
    jsonDocumentUrl: 'docs/json',
    raw: ['json'],
    customSiteTitle: 'Resource API',
    swaggerOptions: {
      displayRequestDuration: true,
      operationsSorter: 'method',
      responseInterceptor: authorise,
    },
  });
}

interface UiResponse {
  url: string;
  status: number;
  body?: { data?: { access_token?: string } };
}

/** Runs in the page, as text: an answer with a token signs the page in. */
function authorise(response: UiResponse): UiResponse {
  const token = response.url.endsWith('/auth/tokens') && response.body?.data?.access_token;
  if (token) window.ui.preauthorizeApiKey('bearer', token);
  return response;
}
