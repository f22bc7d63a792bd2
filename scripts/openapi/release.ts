// npm run openapi:release: keeps the documents of all versions in docs/releases/, in the folder of package.json's version.
// Later documents are compared with them. As long as CHANGELOG.md calls the version unreleased, they may be written anew.
import { readFileSync } from 'node:fs';
import { makeWholes, VERSIONS } from './documents';
import { isDraft, readDocument, writeRelease } from './releases';

const { version: release } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
const files = makeWholes();
const documents = new Map(VERSIONS.map((version, index) => [version, readDocument(files[index])]));
console.log(writeRelease(release, documents, { draft: isDraft(release) }).join('\n'));
