import type { INestApplication } from '@nestjs/common';
import { SwaggerModule } from '@nestjs/swagger';
import type { Express } from 'express';
import { type Version, VERSIONS } from '../http/api-version';
import { describeBy } from '../http/described-by';
import { docsFiles } from './docs-files';
import { openApiDocument } from './openapi';

/** The used parts of Swagger UI's page. */
declare const window: { ui: { preauthorizeApiKey(scheme: string, token: string): void } };

/** Hides what is useless here: a banner, the choice of a single server or media type, and links of responses. */
const STYLE = `
  .swagger-ui .topbar .link, .swagger-ui .servers-title, .swagger-ui .servers, .swagger-ui .info .link,
  .swagger-ui .response-control-media-type:not(:has(option + option)), .swagger-ui .response-col_links { display: none }
  .swagger-ui .info { margin: 40px 0 20px }
  .swagger-ui .scheme-container { padding: 0 0 20px; background: none; box-shadow: none }
`;

/** The path of the document of a version, without the slash at its beginning. */
export const documentPath = (version: Version): string => (version === 1 ? 'docs/json' : `docs/v${version}/json`);

/** Serves Swagger UI at /docs with a choice of versions, and the documents. All files come from this server. */
export function setUpDocs(app: INestApplication): void {
  const [first, ...others] = VERSIONS;
  describeBy(app.getHttpAdapter().getInstance() as Express, (version) => `/${documentPath(version)}`);
  app.use(
    '/docs',
    docsFiles(
      '/docs',
      VERSIONS.map(documentPath).map((path) => `/${path}`),
    ),
  );
  for (const version of others) {
    SwaggerModule.setup(`docs/v${version}`, app, () => openApiDocument(app, version), {
      ui: false,
      jsonDocumentUrl: documentPath(version),
      raw: ['json'],
    });
  }
  SwaggerModule.setup('docs', withoutAssets(app), () => openApiDocument(app, first), {
    jsonDocumentUrl: documentPath(first),
    raw: ['json'],
    explorer: true,
    customSiteTitle: 'Resource API',
    customCss: STYLE,
    swaggerOptions: {
      urls: VERSIONS.map((version) => ({ name: `Version ${version}`, url: `/${documentPath(version)}` })),
      displayRequestDuration: true,
      defaultModelsExpandDepth: 0,
      // The document must not be sent to a third party's validator.
      validatorUrl: null,
      responseInterceptor: authorise,
    },
  });
}

/** Nest would serve the whole package of Swagger UI, including source maps and other pages. See {@link docsFiles}. */
function withoutAssets<A extends INestApplication>(app: A): A {
  return Object.create(app, { useStaticAssets: { value: () => app } }) as A;
}

interface UiResponse {
  url: string;
  status: number;
  body?: { data?: { access_token?: string } };
}

/** Runs in the browser, as text: an answer with a token signs Swagger UI in. */
function authorise(response: UiResponse): UiResponse {
  const token = response.url.endsWith('/auth/tokens') && response.body?.data?.access_token;
  if (token) window.ui.preauthorizeApiKey('bearer', token);
  return response;
}
