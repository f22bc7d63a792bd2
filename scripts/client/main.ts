// npm run client: builds the typed client from the checked-in documents, and packs it.
//   client:types [DOCUMENTS FOLDER]   only makes the types that the client's source imports
//   bundle FOLDER                     only writes the JavaScript
import { bundle, pack } from './build';
import { makeTypes } from './types';

const [command = 'pack', ...words] = process.argv.slice(2);

async function main(): Promise<void> {
  if (command === 'types') return makeTypes(...words);
  if (command === 'bundle') return bundle(words[0]);
  console.log(await pack(...words));
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
