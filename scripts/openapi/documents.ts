import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { type Version, VERSIONS } from '../../src/platform/http/api-version';
import { joined, type OpenApi } from './parts';

export { type Version, VERSIONS };

/** The folder of the service's own documents. That of the tests' application is another one if it is another application. */
export const PRODUCT = 'docs';

/** The folder of a version's parts, which are checked in. */
export const folderOf = (version: Version, documents = PRODUCT): string => `${documents}/openapi/v${version}`;
/** The file of a version's whole document, which is made from the parts. */
export const wholeOf = (version: Version, documents = PRODUCT): string => `${documents}/openapi.v${version}.json`;

/** The checked-in parts, by the names of their files without the extension. */
export function readParts(version: Version, documents = PRODUCT): Map<string, OpenApi> {
  const folder = folderOf(version, documents);
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
  return new Map(
    names
      .sort()
      .map((name) => [name.replace('.json', ''), JSON.parse(readFileSync(`${folder}/${name}`, 'utf8')) as OpenApi]),
  );
}

/**
 * Makes the whole documents of the checked-in parts, unless they are there and the same. Whoever reads a whole document
 * calls this first.
 * @returns the files of the whole documents
 * @throws {Error} if two parts contradict each other
 */
export function makeWholes(documents = PRODUCT): string[] {
  return VERSIONS.map((version) => {
    const file = wholeOf(version, documents);
    const text = `${JSON.stringify(wholeFromParts(version, documents), null, 2)}\n`;
    if (textOf(file) !== text) {
      // Renamed, as another process may read it meanwhile.
      const draft = file.replace(/json$/, `${process.pid}.json`);
      writeFileSync(draft, text);
      renameSync(draft, file);
    }
    return file;
  });
}

function wholeFromParts(version: Version, documents: string): OpenApi {
  try {
    return joined(readParts(version, documents));
  } catch (error) {
    const { message } = error as Error;
    throw new Error(
      `The parts in ${folderOf(version, documents)} contradict each other: npm run openapi writes them anew.\n${message}`,
      {
        cause: error,
      },
    );
  }
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
