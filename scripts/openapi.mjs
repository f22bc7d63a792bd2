// npm run openapi: writes the documents of both versions, as the compiled service serves them, to docs/. If the tested
// application is another one, its documents are written too.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import prettier from 'prettier';
import { startService } from '../test/browser/service.mjs';

const PATHS = { 'openapi.v1.json': '/docs/json', 'openapi.v2.json': '/docs/v2/json' };
const PRODUCT = { program: 'dist/main.js', documents: 'docs' };

const tested = JSON.parse(readFileSync('test/support/application-places.json', 'utf8'));
await writeDocuments(PRODUCT);
if (tested.program !== PRODUCT.program) await writeDocuments(tested);

async function writeDocuments({ program, documents }) {
  const { url, stop } = await startService({ DEMO_DATA: 'false' }, program);
  try {
    for (const [name, path] of Object.entries(PATHS)) {
      const file = join(documents, name);
      const text = await (await fetch(url + path)).text();
      writeFileSync(file, await format(text, file));
      console.log(file);
    }
  } finally {
    await stop();
  }
}

async function format(text, file) {
  const options = await prettier.resolveConfig(file);
  // Formatted with each value on a line of its own, so that differences are readable.
  return prettier.format(JSON.stringify(JSON.parse(text), null, 2), { ...options, filepath: file });
}
