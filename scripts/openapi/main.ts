// npm run openapi: writes the documents of all versions, as the compiled service serves them, to docs/: the parts, which are
// checked in, and the whole documents. If the tested application is another one, its documents are written too.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import prettier from 'prettier';
import { startService } from '../../test/browser/service.mjs';
import { folderOf, makeWholes, PRODUCT, type Version, VERSIONS } from './documents';
import { type OpenApi, partsOf } from './parts';

const pathOf = (version: Version): string => (version === 1 ? '/docs/json' : `/docs/v${version}/json`);

interface Application {
  program: string;
  documents: string;
}

async function main(): Promise<void> {
  const product = { program: 'dist/main.js', documents: PRODUCT };
  const tested = JSON.parse(readFileSync('test/support/application-places.json', 'utf8')) as Application;
  await writeDocuments(product);
  if (tested.program !== product.program) await writeDocuments(tested);
}

async function writeDocuments({ program, documents }: Application): Promise<void> {
  const { url, stop } = await startService({ DEMO_DATA: 'false' }, program);
  try {
    for (const version of VERSIONS) {
      const answer = await fetch(url + pathOf(version));
      await writeParts(folderOf(version, documents), partsOf((await answer.json()) as OpenApi));
    }
  } finally {
    await stop();
  }
  const folders = VERSIONS.map((version) => folderOf(version, documents));
  console.log([...folders, ...makeWholes(documents)].join('\n'));
}

/** Removes the parts of groups that are gone. */
async function writeParts(folder: string, parts: Map<string, OpenApi>): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const gone = readdirSync(folder).filter((name) => !parts.has(name.replace('.json', '')));
  for (const name of gone) rmSync(`${folder}/${name}`);
  for (const [name, part] of parts) {
    const path = `${folder}/${name}.json`;
    writeFileSync(path, await formatted(part, path));
  }
}

/** With each value on a line of its own, so that differences are readable. */
async function formatted(part: OpenApi, path: string): Promise<string> {
  const options = await prettier.resolveConfig(path);
  return prettier.format(JSON.stringify(part, null, 2), { ...options, filepath: path });
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
