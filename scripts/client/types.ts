import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript';
import { joined } from '../openapi/parts';
import { PRODUCT, readParts, VERSIONS } from '../openapi/documents';
import { type CalledPaths, calledPathsOf, errorCodesOf } from './called-paths';
import { routesOf } from './routes';

const FOLDER = 'client/src/generated';
const GENERATOR = ['called-paths', 'routes', 'types'].map((name) => `scripts/client/${name}.ts`);

/**
 * Makes the types of the client from the checked-in parts of the documents, unless they are there and of these documents.
 * Whoever compiles the client calls this first (D-227).
 */
export async function makeTypes(documents = PRODUCT, folder = FOLDER): Promise<void> {
  const mark = `// npm run client:types made this from the documents in ${documents}/openapi: ${fingerprint(documents)}\n`;
  const mine = VERSIONS.map((version) => ({ file: `v${version}.ts`, version }));
  const files = [...mine.map(({ file }) => file), 'error-codes.ts'];
  if (files.every((file) => isMadeBy(mark, `${folder}/${file}`))) return;
  mkdirSync(folder, { recursive: true });
  for (const { file, version } of mine) {
    const called = calledPathsOf(version, documents);
    write(`${folder}/${file}`, mark + (await typesOf(called)) + routesText(called));
  }
  write(`${folder}/error-codes.ts`, mark + codesText(documents));
}

async function typesOf(document: CalledPaths): Promise<string> {
  // An attribute with a default may be left out.
  const nodes = await openapiTS(document as unknown as OpenAPI3, { defaultNonNullable: false, silent: true });
  return astToString(nodes);
}

const routesText = (called: CalledPaths): string =>
  `/** What the client knows of these paths while it runs. */\nexport const routes = ${JSON.stringify(routesOf(called), null, 2)} as const;\n`;

function codesText(documents: string): string {
  const codes = VERSIONS.flatMap((version) => errorCodesOf(joined(readParts(version, documents))));
  const union = [...new Set(codes)].map((code) => `'${code}'`).join(' | ');
  return `/** The codes of all errors that the documents know. */\nexport type DocumentedCode = ${union};\n`;
}

/** The fingerprint of the documents and of this generator. */
function fingerprint(documents: string): string {
  const hash = createHash('sha256');
  for (const path of GENERATOR) hash.update(readFileSync(path));
  for (const version of VERSIONS) hash.update(JSON.stringify([...readParts(version, documents)]));
  return hash.digest('hex').slice(0, 32);
}

function isMadeBy(mark: string, file: string): boolean {
  return existsSync(file) && readFileSync(file, 'utf8').startsWith(mark);
}

/** Renamed, as another process may read it meanwhile. */
function write(file: string, text: string): void {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, text);
  renameSync(draft, file);
}
