import { join } from 'node:path';

/** The newest versions that run on Node 20.19: the next ones of hey-api, orval and kubb ask for Node 22. */
export const PACKAGES: Record<string, string> = {
  'openapi-typescript': '7.13.0',
  'openapi-fetch': '0.17.0',
  '@hey-api/openapi-ts': '0.95.0',
  zod: '4.1.13',
  orval: '7.13.2',
  'swagger-typescript-api': '13.13.0',
  '@kubb/cli': '4.39.3',
  '@kubb/core': '4.39.3',
  '@kubb/plugin-oas': '4.39.3',
  '@kubb/plugin-ts': '4.39.3',
  '@kubb/plugin-client': '4.39.3',
  // The versions that the generators ask for.
  typescript: '5.9.3',
  esbuild: '0.25.12',
};

export interface Document {
  /** `v1` or `v2`. */
  version: string;
  /** The path of the document. */
  path: string;
}

export interface Tool {
  /** The package, by which a person knows it. */
  name: string;
  /** The program in the scratch folder, with its parameters. */
  commands: (documents: Document[], output: string) => string[][];
  /** The text of a configuration file, by its name. Default: none */
  config?: (documents: Document[], output: string, url: string) => { file: string; text: string };
  /** Options of the compiler that its own code doesn't pass. Default: none */
  lenient?: string[];
}

const asModule = (value: string): string => `export default ${value};\n`;

const orvalOutput = (folder: string, baseUrl: string): object => ({
  target: join(folder, 'api.ts'),
  schemas: join(folder, 'models'),
  client: 'fetch',
  baseUrl,
  headers: true,
});

export const TOOLS: Tool[] = [
  {
    name: 'openapi-typescript',
    commands: (documents, output) =>
      documents.map(({ version, path }) => ['openapi-typescript', path, '-o', join(output, version, 'schema.ts')]),
  },
  {
    name: '@hey-api/openapi-ts',
    config: (documents, output) => ({
      file: 'hey-api.config.mjs',
      text: asModule(
        JSON.stringify(
          documents.map(({ version, path }) => ({
            input: path,
            output: join(output, version),
            plugins: ['@hey-api/client-fetch', '@hey-api/typescript', 'zod', { name: '@hey-api/sdk', validator: true }],
          })),
        ),
      ),
    }),
    commands: () => [['openapi-ts', '-f', 'hey-api.config.mjs']],
    lenient: ['exactOptionalPropertyTypes'],
  },
  {
    name: 'orval',
    config: (documents, output, url) => {
      const projects = documents.map(({ version, path }) => [
        version,
        { input: path, output: orvalOutput(join(output, version), url) },
      ]);
      return { file: 'orval.config.cjs', text: `module.exports = ${JSON.stringify(Object.fromEntries(projects))};\n` };
    },
    commands: () => [['orval', '--config', 'orval.config.cjs']],
  },
  {
    name: 'swagger-typescript-api',
    commands: (documents, output) =>
      documents.map(({ version, path }) => [
        ...['swagger-typescript-api', 'generate', '--path', path],
        ...['--output', join(output, version), '--name', 'api.ts'],
      ]),
  },
  {
    name: 'kubb',
    config: (documents, output, url) => ({
      file: 'kubb.config.mjs',
      text: `import { pluginClient } from '@kubb/plugin-client';
import { pluginOas } from '@kubb/plugin-oas';
import { pluginTs } from '@kubb/plugin-ts';
export default ${JSON.stringify(documents)}.map(({ version, path }) => ({
  root: '.',
  input: { path },
  output: { path: ${JSON.stringify(output)} + '/' + version, extension: { '.ts': '' }, barrelType: 'named' },
  plugins: [pluginOas({ generators: [] }), pluginTs(), pluginClient({ client: 'fetch', baseURL: ${JSON.stringify(url)} })],
}));
`,
    }),
    commands: () => [['kubb', 'generate', '--config', 'kubb.config.mjs']],
    lenient: ['exactOptionalPropertyTypes'],
  },
];
