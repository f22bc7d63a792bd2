// npm run openapi: writes the documents of both versions, as the compiled service serves them, to docs/.
import { writeFileSync } from 'node:fs';
import prettier from 'prettier';
import { startService } from '../test/browser/service.mjs';

const DOCUMENTS = { 'docs/openapi.v1.json': '/docs/json', 'docs/openapi.v2.json': '/docs/v2/json' };

const { url, stop } = await startService({ DEMO_DATA: 'false' });
try {
  for (const [file, path] of Object.entries(DOCUMENTS)) {
    const text = await (await fetch(url + path)).text();
    writeFileSync(file, await format(text, file));
    console.log(file);
  }
} finally {
  await stop();
}

async function format(text, file) {
  const options = await prettier.resolveConfig(file);
  // Formatted with each value on a line of its own, so that differences are readable.
  return prettier.format(JSON.stringify(JSON.parse(text), null, 2), { ...options, filepath: file });
}
