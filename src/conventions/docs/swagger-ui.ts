import type { INestApplication } from '@nestjs/common';
import { SwaggerModule } from '@nestjs/swagger';
import { openApiDocument } from './openapi';

/** The parts of Swagger UI's page that are used here. */
declare const window: { ui: { preauthorizeApiKey(scheme: string, token: string): void } };

/** Hides what this document has no use for: a banner, a choice of one server or of one media type, links of responses. */
const STYLE = `
  .swagger-ui .topbar, .swagger-ui .servers-title, .swagger-ui .servers, .swagger-ui .info .link,
  .swagger-ui .response-control-media-type:not(:has(option + option)), .swagger-ui .response-col_links { display: none }
  .swagger-ui .info { margin: 40px 0 20px }
  .swagger-ui .scheme-container { padding: 0 0 20px; background: none; box-shadow: none }
`;

/** Swagger UI at /docs and the document itself at /docs/json; all files come from this server. */
export function setUpDocs(app: INestApplication): void {
  SwaggerModule.setup('docs', app, () => openApiDocument(app), {
    jsonDocumentUrl: 'docs/json',
    raw: ['json'],
    customSiteTitle: 'Resource API',
    customCss: STYLE,
    swaggerOptions: {
      displayRequestDuration: true,
      defaultModelsExpandDepth: 0,
      // The document must not travel to somebody else's validator.
      validatorUrl: null,
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
